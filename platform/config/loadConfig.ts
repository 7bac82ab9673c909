// Loads the configuration. A process with a wrong configuration prints every mistake and exits with code 78.
import { type Config, ConfigError, configExitCode, readConfig } from '../../schemas/config.js';
import { temporalConnectionOptions } from '../temporal/connectionOptions.js';
import { type Environment, readFileSettings } from './fileSettings.js';

/** Throws a ConfigError that names every mistake, including files that cannot be read. */
export function loadConfig(given: Environment): Config {
  const { env, mistakes } = readFileSettings(given);
  try {
    const config = readConfig(env);
    temporalConnectionOptions(config);
    if (mistakes.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // When the file of a variable could not be read, only the file is reported, not also the missing variable.
    const unread = (mistake: string) => mistakes.some((other) => other.startsWith(`${mistake.split(':', 1)[0]}_FILE:`));
    mistakes.push(...error.mistakes.filter((mistake) => !unread(mistake)));
  }
  throw new ConfigError(mistakes);
}

export function readConfigOrExit(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(configExitCode);
  }
}
