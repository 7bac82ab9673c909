// Loads the configuration. A process with a wrong configuration prints every mistake and exits with code 78.
import { MongoClient } from 'mongodb';
import { type Config, ConfigError, configExitCode, readConfig } from '../../schemas/shared/config.schema.js';
import { temporalConnectionOptions } from '../temporal/connectionOptions.js';
import { type Environment, readFileSettings } from './fileSettings.js';

/** Throws a ConfigError that names every mistake, including files that cannot be read. */
export function loadConfig(given: Environment): Config {
  const { env, mistakes } = readFileSettings(given);
  try {
    const config = checkedConfig(env);
    if (mistakes.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // When the file of a variable could not be read, only the file is reported, not also the missing variable.
    const unread = (mistake: string) => mistakes.some((other) => other.startsWith(`${mistake.split(':', 1)[0]}_FILE:`));
    mistakes.push(...error.mistakes.filter((mistake) => !unread(mistake)));
  }
  throw new ConfigError(mistakes);
}

/** Throws a ConfigError also for what only a client can tell: nothing that is wrong may show first where it is used. */
export function checkedConfig(env: Environment): Config {
  const config = readConfig(env);
  const mistakes = [checkMongodbUri, temporalConnectionOptions].flatMap((check) => {
    try {
      check(config);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.mistakes;
      throw error;
    }
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

function checkMongodbUri({ MONGODB_URI }: Config): void {
  try {
    new MongoClient(MONGODB_URI);
  } catch {
    // The driver's own message may show the password.
    const rule = 'must be mongodb:// or mongodb+srv:// with a host, known options, and an encoded user and password';
    throw new ConfigError([`MONGODB_URI: ${rule}`]);
  }
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
