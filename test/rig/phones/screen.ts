// Draws a phone's screen in a terminal.
import { renderUnicodeCompact } from 'uqr';

export interface ShownCard {
  title: string;
  /** Label and value, from top to bottom. */
  lines: readonly (readonly [string, string])[];
  code?: string | undefined;
  message?: string | undefined;
  voided: boolean;
}

const width = 40;

export function drawCard({ title, lines, code, message, voided }: ShownCard): string {
  const row = (content: string) => `  │ ${content}${' '.repeat(Math.max(width - [...content].length, 0))} │`;
  const pair = ([label, value]: readonly [string, string]) =>
    row(`${label}${' '.repeat(Math.max(width - label.length - [...value].length, 1))}${value}`);
  const qr = code === undefined ? [] : renderUnicodeCompact(code, { border: 1 }).split('\n');
  const middle = (content: string) => row(`${' '.repeat(Math.max((width - [...content].length) >> 1, 0))}${content}`);
  return [
    `  ╭${'─'.repeat(width + 2)}╮`,
    row(voided ? `${title} (void)` : title),
    row(''),
    ...lines.map(pair),
    ...(qr.length > 0 ? [row(''), ...qr.map(middle), middle(code ?? '')] : []),
    `  ╰${'─'.repeat(width + 2)}╯`,
    ...(message ? [`  “${message}”`] : []),
  ].join('\n');
}

export const moment = (): string => new Date().toISOString().slice(11, 23);
