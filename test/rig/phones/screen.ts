// Draws a phone's screen in a terminal.
import { renderUnicodeCompact } from 'uqr';
import { type AppleFace, type GooglePass, googleFace } from '../../../console/parts/faces.js';

export interface ShownCard {
  title: string;
  /** Label and value, from top to bottom. */
  lines: readonly (readonly [string, string])[];
  code?: AppleFace['code'];
  /** Below the card. */
  actions?: readonly string[];
  message?: string | undefined;
  voided: boolean;
}

const width = 40;

export function ofApple(face: AppleFace, voided: boolean): ShownCard {
  const { title, header, primary, secondary, auxiliary, footer, code, actions } = face;
  const fields = [header, primary, secondary, auxiliary, footer].flat();
  return { ...{ title, code, actions, voided }, lines: fields.map(({ label = '', value }) => [label, String(value)]) };
}

export function ofGoogle(pass: GooglePass): ShownCard {
  const { issuer, title, points, code, isActive } = googleFace(pass);
  return { title: issuer, lines: [[title, ''], ...points], code, voided: !isActive };
}

export function drawCard({ title, lines, code, actions = [], message, voided }: ShownCard): string {
  const row = (content: string) => `  │ ${content}${' '.repeat(Math.max(width - [...content].length, 0))} │`;
  const pair = ([label, value]: readonly [string, string]) =>
    row(`${label}${' '.repeat(Math.max(width - label.length - [...value].length, 1))}${value}`);
  const isQr = /QR/.test(code?.format ?? '');
  const picture = code && isQr ? renderUnicodeCompact(code.value, { border: 1 }).split('\n') : [];
  const middle = (content: string) => row(`${' '.repeat(Math.max((width - [...content].length) >> 1, 0))}${content}`);
  return [
    `  ╭${'─'.repeat(width + 2)}╮`,
    row(voided ? `${title} (void)` : title),
    row(''),
    ...lines.map(pair),
    ...(code ? [row(''), ...picture.map(middle), middle(isQr ? code.value : `${code.format}: ${code.value}`)] : []),
    `  ╰${'─'.repeat(width + 2)}╯`,
    ...actions.map((type) => `  [ ${type} ]`),
    ...(message ? [`  “${message}”`] : []),
  ].join('\n');
}

export const moment = (): string => new Date().toISOString().slice(11, 23);
