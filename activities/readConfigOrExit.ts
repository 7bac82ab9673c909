// A wrong configuration ends a process at once, with every mistake named and exit code 78.
import { type Config, ConfigError, configExitCode, readConfig } from '../schemas/config.js';

export function readConfigOrExit(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(configExitCode);
  }
}
