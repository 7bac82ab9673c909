// Prints the addresses of the running stack and the tour.
import type { StackFile } from './stackFile.js';
import type { Terminal } from './terminal.js';
import { tourLines } from './tour.js';

export interface Welcome {
  stack: StackFile;
  logDir: string;
  tookMs: number;
}

export function printWelcome(terminal: Pick<Terminal, 'line'>, { stack, logDir, tookMs }: Welcome): void {
  const { receiver, client } = tourLines(stack);
  const lines = [
    '',
    `  Everything runs, ${(tookMs / 1000).toFixed(1)} s after the start. Ctrl-C stops it.`,
    '',
    `  API          ${stack.baseUrl}`,
    `  API docs     ${new URL('/docs', stack.baseUrl)}`,
    `  Temporal UI  ${stack.temporalUi ?? `that of ${stack.temporalAddress}`}`,
    `  logs         ${logDir}`,
    '',
    '  A tour. In a second terminal, in this folder, a receiver of webhooks:',
    '',
    ...receiver,
    '',
    '  In a third terminal, line by line: subscribe, enroll a member, award points.',
    '',
    ...client,
    '',
  ];
  for (const line of lines) terminal.line(line);
}
