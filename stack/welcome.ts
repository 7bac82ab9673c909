// Prints the addresses of the running stack, how to open its console, and the tour.
import type { StackFile } from './stackFile.js';
import type { Terminal } from './terminal.js';
import { tourLines } from './tour.js';

export interface Welcome {
  stack: StackFile;
  signInLink: string;
  logDir: string;
  /** The folder of the mails; absent when they are sent. */
  mailDir: string | undefined;
  tookMs: number;
}

export function printWelcome(terminal: Pick<Terminal, 'line'>, welcome: Welcome): void {
  const { stack, signInLink, logDir, mailDir, tookMs } = welcome;
  const { receiver, client } = tourLines(stack);
  const lines = [
    '',
    `  Everything runs, ${(tookMs / 1000).toFixed(1)} s after the start. Ctrl-C stops it.`,
    '',
    `  API          ${stack.baseUrl}`,
    `  API docs     ${new URL('/docs', stack.baseUrl)}`,
    `  Temporal UI  ${stack.temporalUi ?? `that of ${stack.temporalAddress}`}`,
    `  logs         ${logDir}`,
    ...(mailDir === undefined ? [] : [`  mails        ${mailDir}`]),
    '',
    "  The demo's console, signed in. The link works once; another: npm run users -- link owner@demo.example --merchant demo",
    '',
    `  ${signInLink}`,
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
