// Collects the service's log while a test runs and prints it when the test fails: the newest lines of the services in
// this process and of the log files of processes that the test started.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const keptLines = 2_000;
const printedLines = 60;

const lines: string[] = [];
const folders = new Set<string>();

/** The log destination of the services in this process. */
export const failureLog = {
  write(line: string): void {
    lines.push(line.trimEnd());
    if (lines.length > keptLines) lines.splice(0, lines.length - keptLines);
  },
};

/** The newest lines of the services in this process. */
export const loggedLines = (): readonly string[] => lines;

/** Also prints the log files in this folder when a test fails. */
export function watchLogFolder(folder: string): void {
  folders.add(folder);
}

/** False when the line was written before `since`; true when it was written later or has no time. */
function isSince(line: string, since: number): boolean {
  const at = /"time":(\d+)/.exec(line)?.[1];
  return at === undefined || Number(at) >= since;
}

function print(title: string, said: readonly string[]): void {
  if (said.length === 0) return;
  const left = said.length - printedLines;
  console.log(`--- ${title}${left > 0 ? `, the last ${printedLines} of ${said.length} lines` : ''}`);
  for (const line of said.slice(-printedLines)) console.log(line);
}

/** Prints the lines since then, from this process and from the log files. */
export function printLogSince(since: number, title: string): void {
  const during = (said: string[]) => said.filter((line) => isSince(line, since));
  print(`the service's log during "${title}"`, during(lines));
  for (const folder of folders)
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const said = readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean);
      print(`${name} during "${title}"`, during(said));
    }
}
