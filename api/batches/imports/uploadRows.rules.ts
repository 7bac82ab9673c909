// Turns the bytes of a file into the rows of an import, in constant memory: text of a known charset, RFC 4180 with the
// delimiter of the header, bounded length of lines and rows. An error in the file may be thrown only after some chunks
// were read; the caller has to discard their rows.
import { Readable } from 'node:stream';
import { type CsvError, Parser } from 'csv-parse';
import { delimiterOf, firstRecord, separatorLine } from '../../../schemas/batches/delimiter.rules.js';
import {
  type ColumnMapping,
  fieldOfHeader,
  type ImportColumns,
  isBlank,
  ownCells,
  readHeader,
} from '../../../schemas/batches/importColumns.rules.js';
import { type Charset, importInvalid, importTooLarge, lineEnd } from '../../../schemas/batches/importFile.rules.js';
import { type ReadRow, readRow } from '../../../schemas/batches/importRows.rules.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { type Delimiter, delimiters } from '../../../schemas/shared/csv.rules.js';
import { openText, type UploadFile } from './decodeText.rules.js';

export interface RowLimits {
  maxBytes: number;
  maxRows: number;
  /** Consumes a file within these limits. */
  beyond?: string;
}

export interface UploadedRows {
  charset: Charset;
  delimiter: Delimiter;
  /** All cells of the first line. */
  cells: string[];
  columns: ImportColumns;
  /** The columns of the first line that the merchant added. */
  header: string[];
  chunks: AsyncGenerator<ReadRow[]>;
}

export interface ReadRows extends RowLimits {
  file: UploadFile;
  program: Pick<Program, 'style' | 'goal'>;
  mapping?: ColumnMapping | undefined;
  /** A chunk is created in one transaction, which must be short so that other transactions do not wait for it. */
  rowsPerChunk?: number;
}

const maxRecord = 16_384;
const maxLine = 65_536;
/** Bytes between two pauses, in which the process can serve other requests. */
const slice = 16_384;

/** Throws IMPORT_TOO_LARGE. */
async function* counted(
  bytes: AsyncIterable<Buffer>,
  { maxBytes, beyond }: Pick<ReadRows, 'maxBytes' | 'beyond'>,
): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    if (total > maxBytes) throw importTooLarge(`${maxBytes} bytes`, beyond);
    yield chunk;
  }
}

/** Stands between separators or line ends, so that it is never a part of a quoted cell. */
const bareFormula = /(?<=^|[,;\t\r\n])="([^",;\t\r\n]+)"(?=[,;\t\r\n]|$)/g;
const quoted = (text: string): string => text.replace(bareFormula, (_, cell: string) => `"=""${cell}"""`);

/** Quotes cells such as `="0012"`, which programs write for spreadsheets as they are. */
async function* quotedFormulas(text: AsyncIterable<string>): AsyncGenerator<string> {
  let line = '';
  for await (const part of text) {
    const all = line + part;
    const end = Math.max(all.lastIndexOf('\n'), all.lastIndexOf('\r')) + 1;
    // The parser refuses a longer line.
    const complete = all.length - end > maxLine ? all.length : end;
    yield quoted(all.slice(0, complete));
    line = all.slice(complete);
  }
  yield quoted(line);
}

const newLine = 10;
const carriageReturn = 13;

/** The text in UTF-8, with pauses. Throws IMPORT_INVALID when a line is too long. */
async function* sliced(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let line = 0;
  for await (const part of text) {
    const bytes = Buffer.from(part);
    line = longestLine(bytes, line);
    for (let from = 0; from < bytes.length; from += slice) {
      yield bytes.subarray(from, from + slice);
      await new Promise(setImmediate);
    }
  }
}

/**
 * The length of the line that is unfinished at the end of `bytes`; `before` is that length at the start of `bytes`.
 * Throws IMPORT_INVALID when a line is longer than `maxLine`.
 */
function longestLine(bytes: Buffer, before: number): number {
  let length = before;
  for (let at = 0; at < bytes.length; at += 1) {
    length = bytes[at] === newLine || bytes[at] === carriageReturn ? 0 : length + 1;
    if (length > maxLine) throw importInvalid(`it has a line of more than ${maxLine} bytes.`);
  }
  return length;
}

const parseProblems: Partial<Record<CsvError['code'], string>> = {
  CSV_MAX_RECORD_SIZE: `it has a row of more than ${maxRecord} bytes, or opens a quote that is never closed.`,
  CSV_QUOTE_NOT_CLOSED: 'it opens a quote that is never closed.',
  CSV_INVALID_CLOSING_QUOTE: 'it opens a quote that is not closed, or has one within its cell that is not doubled.',
  INVALID_OPENING_QUOTE: 'it has a quote inside a cell that does not begin with one.',
};

function problemOf(error: unknown, line: number): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const problem = parseProblems[code as CsvError['code']];
  if (problem) return importInvalid(`in line ${line} ${problem}`, { problem: { is: 'quote', line } });
  return code.startsWith('CSV_') ? importInvalid('it is not CSV.') : error;
}

interface FileRecord {
  /** The line at which it begins. */
  line: number;
  cells: string[];
}

const newLinesOf = (cells: readonly string[]): number =>
  cells.reduce(
    (sum, cell) => sum + (cell.includes('\n') || cell.includes('\r') ? cell.split(lineEnd).length - 1 : 0),
    0,
  );

/**
 * Counts lines, because the parser counts an end of two characters inside quotes twice, and gives numbers only together
 * with much that is slow to make.
 */
class LineParser extends Parser {
  /** Of the record that is being parsed. */
  #line = 1;

  override push(cells: string[] | null): boolean {
    if (!cells) return super.push(cells);
    const line = this.#line;
    this.#line += newLinesOf(cells) + 1;
    // Spreadsheets write lines that contain only delimiters.
    return cells.every(isBlank) || super.push({ line, cells } satisfies FileRecord);
  }

  /** The line at which the cell begins that is being parsed. */
  line(this: LineParser & { state?: { record?: string[] } }): number {
    return this.#line + newLinesOf(this.state?.record ?? []);
  }
}

async function* recordsOf(text: AsyncIterable<string>, delimiter: Delimiter): AsyncGenerator<FileRecord> {
  const parser = new LineParser({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: maxRecord,
  });
  const source = Readable.from(sliced(quotedFormulas(text)), { objectMode: false });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const record of parser) yield record;
  } catch (error) {
    throw problemOf(error, parser.line());
  } finally {
    source.destroy();
  }
}

interface Head {
  /** The text up to the end of the header. */
  header: string;
  /** What the first line names, which a spreadsheet does not show. */
  separator: string | undefined;
  /** The complete text without the line of the separator. */
  all: AsyncGenerator<string>;
}

async function headOf(text: AsyncGenerator<string>): Promise<Head> {
  let head = '';
  let header: string | undefined;
  while (header === undefined && head.length <= maxLine) {
    const next = await text.next();
    if (next.done) break;
    head += next.value;
    if (lineEnd.test(next.value)) header = firstRecord(head.replace(separatorLine, ''));
  }
  const below = head.replace(separatorLine, '');
  async function* all(): AsyncGenerator<string> {
    yield below;
    yield* text;
  }
  const separator = separatorLine.exec(head)?.[1];
  return { header: header ?? firstRecord(`${below}\n`) ?? '', separator, all: all() };
}

/** Throws IMPORT_INVALID. */
function namedDelimiter(separator: string): Delimiter {
  const named = delimiters.find((delimiter) => delimiter === separator);
  if (!named) throw importInvalid('its first line names a separator that is neither comma nor semicolon nor tab.');
  return named;
}

/** Throws IMPORT_INVALID and IMPORT_TOO_LARGE, also while the chunks are read. */
export async function readRows(input: ReadRows): Promise<UploadedRows> {
  const { file, mapping = new Map() } = input;
  const { charset, text } = await openText({ ...file, bytes: counted(file.bytes, input) });
  const { header, separator, all } = await headOf(text);
  const isKnown = (cell: string) => fieldOfHeader(cell, mapping) !== undefined;
  // The parser refuses a longer header.
  const delimiter =
    separator === undefined ? delimiterOf(header.slice(0, maxRecord), isKnown) : namedDelimiter(separator);
  const records = recordsOf(all, delimiter);
  const first = await records.next();
  if (first.done) throw importInvalid('it is empty.', { problem: { is: 'empty' } });
  const { cells } = first.value;
  const columns = await columnsOf(cells, { records, mapping });
  const chunks = chunksOf(records, { ...input, columns });
  return { charset, delimiter, cells, columns, header: ownCells(cells, columns), chunks };
}

async function columnsOf(
  header: string[],
  { records, mapping }: { records: AsyncGenerator<FileRecord>; mapping: ColumnMapping },
): Promise<ImportColumns> {
  try {
    return readHeader(header, mapping);
  } catch (error) {
    await records.return(undefined);
    throw error;
  }
}

async function* chunksOf(
  records: AsyncGenerator<FileRecord>,
  {
    columns,
    program,
    maxRows,
    beyond,
    rowsPerChunk = 100,
  }: Pick<ReadRows, 'program' | 'maxRows' | 'beyond' | 'rowsPerChunk'> & { columns: ImportColumns },
): AsyncGenerator<ReadRow[]> {
  let row = 0;
  let chunk: ReadRow[] = [];
  for await (const { line, cells } of records) {
    row += 1;
    if (row > maxRows) throw importTooLarge(`${maxRows} rows`, beyond);
    chunk.push(readRow({ row, line, cells }, { columns, program }));
    if (chunk.length < rowsPerChunk) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
