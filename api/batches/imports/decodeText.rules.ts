// Decodes the text of an uploaded file from the stream. The charset is that of the byte order mark, or else the one
// that the caller named. Otherwise zero bytes mean UTF-16, and everything else must be valid UTF-8. The error for any
// other file says what was found.
import { type Charset, importInvalid, lineEnd } from '../../../schemas/batches/importFile.rules.js';
import type { FileProblem } from '../../../schemas/shared/errors.js';

const labels = new Map<string, Charset>([
  ['utf-8', 'utf-8'],
  ['utf8', 'utf-8'],
  ['us-ascii', 'utf-8'],
  ['utf-16', 'utf-16le'],
  ['utf-16le', 'utf-16le'],
  ['utf-16be', 'utf-16be'],
  ['windows-1252', 'windows-1252'],
  ['cp1252', 'windows-1252'],
]);

/** The charset with this name in a Content-Type; undefined when it is not supported. */
export const charsetNamed = (label: string): Charset | undefined => labels.get(label.toLowerCase());

export interface UploadFile {
  bytes: AsyncIterable<Buffer>;
  /** The charset that the caller named. */
  charset?: Charset | undefined;
}

export interface OpenedText {
  charset: Charset;
  text: AsyncGenerator<string>;
}

const marks: readonly [Charset, Buffer][] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
];

/** The first bytes of file types that are often uploaded instead of CSV. */
const signatures: readonly [FileProblem['is'], string, Buffer][] = [
  ['workbook', 'a ZIP archive, such as a workbook (.xlsx, .ods)', Buffer.from('PK\x03\x04', 'latin1')],
  ['workbook', 'a workbook of an old Excel (.xls)', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  ['noText', 'a compressed file (gzip)', Buffer.from('1f8b', 'hex')],
  ['noText', 'a PDF document', Buffer.from('%PDF-')],
];

const headBytes = 1_024;

const startsWith = (bytes: Buffer, start: Buffer): boolean => bytes.subarray(0, start.length).equals(start);

/** Throws IMPORT_INVALID, also while the text is read. */
export async function openText({ bytes, charset: said }: UploadFile): Promise<OpenedText> {
  const rest = bytes[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < headBytes) {
    const next = await rest.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const [is, found] = signatures.find(([, , start]) => startsWith(head, start)) ?? [];
  if (is) {
    await rest.return?.();
    throw importInvalid(`it is ${found} and not CSV.`, { problem: { is } });
  }
  const [marked] = marks.find(([, mark]) => startsWith(head, mark)) ?? [];
  const charset = marked ?? withoutMark(head, said);
  async function* all(): AsyncGenerator<Buffer> {
    try {
      yield head;
      for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
    } finally {
      await rest.return?.();
    }
  }
  return { charset, text: decoded(all(), charset) };
}

/**
 * In UTF-16, every ASCII character has a zero byte, always on the same side, and few other characters have a zero byte
 * on the other side. Other text has no zero bytes.
 */
function withoutMark(head: Buffer, said: Charset | undefined): Charset {
  if (said === 'windows-1252') return said;
  const zeros = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const enough = head.length / 8;
  if (odd > enough && odd > 8 * even) return 'utf-16le';
  if (even > enough && even > 8 * odd) return 'utf-16be';
  return said ?? 'utf-8';
}

async function* decoded(bytes: AsyncIterable<Buffer>, charset: Charset): AsyncGenerator<string> {
  const decode = strictDecoder(charset);
  for await (const chunk of bytes) yield withoutNul(decode(chunk));
  yield withoutNul(decode());
}

function withoutNul(text: string): string {
  if (text.includes('\0')) throw importInvalid('it holds a NUL character.', { problem: { is: 'noText' } });
  return text;
}

const newLines = (text: string): number => text.split(lineEnd).length - 1;

/**
 * Removes the byte order mark. Bytes are always decoded as a part of a stream: Node 20 decodes windows-1252 as Latin-1
 * otherwise. Not iconv-lite, which replaces what is invalid instead of refusing it.
 */
function strictDecoder(charset: Charset): (bytes?: Buffer) => string {
  const decoder = new TextDecoder(charset, { fatal: true });
  let line = 1;
  return (bytes) => {
    try {
      const text = decoder.decode(bytes, { stream: bytes !== undefined });
      line += newLines(text);
      return text;
    } catch {
      throw notDecodable(charset, line, bytes);
    }
  };
}

function notDecodable(charset: Charset, line: number, bytes: Buffer = Buffer.alloc(0)): Error {
  if (charset !== 'utf-8')
    return importInvalid(`it begins as ${charset}, and is not near line ${line}.`, {
      problem: { is: 'charset', line },
    });
  // The end of a character that began in the previous bytes.
  const from = bytes.findIndex((byte) => byte < 0x80 || byte > 0xbf);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const before = decoder.decode(bytes.subarray(Math.max(from, 0))).split('\uFFFD')[0] ?? '';
  const byte = bytes[Math.max(from, 0) + Buffer.byteLength(before)];
  const which = byte === undefined ? '' : ` (byte 0x${byte.toString(16)})`;
  return importInvalid(
    `near line ${line + newLines(before)} it is not UTF-8${which}. Save it as UTF-8, or say its charset in the Content-Type of the file: "text/csv; charset=windows-1252".`,
    { problem: { is: 'charset', line: line + newLines(before) } },
  );
}
