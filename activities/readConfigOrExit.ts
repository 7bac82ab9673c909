// A wrong configuration ends a process at once, with every mistake named and exit code 78.
import { type Config, ConfigError, configExitCode, readConfig } from '../schemas/config.js';
import { type Environment, readFileSettings } from './fileSettings.js';
import { temporalTarget } from './temporalTarget.js';

/** Throws ConfigError that names every mistake, those in files that the environment names too. */
export function loadConfig(given: Environment): Config {
  const { env, mistakes } = readFileSettings(given);
  try {
    const config = readConfig(env);
    temporalTarget(config);
    if (mistakes.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // A variable whose file could not be read is missing for that reason alone.
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
