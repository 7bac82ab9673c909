// The command line of a command that is not one of the operators' (commands/command.ts).
import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * Reads the options of this process. `--help` prints the usage and ends the process with exit code 0; a mistake is
 * named above the usage, and the exit code is 1.
 */
export function readOptions<const T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(1);
  }
}
