// Turns the bytes of a file into the rows of an import, in constant memory: text of a known charset, RFC 4180 with the
// delimiter of the header, bounded length of lines and rows. An error in the file may be thrown only after some chunks
// were read; the caller has to discard their rows.
import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import type { ImportRow } from '../../schemas/collections.js';
import {
  type Charset,
  type ColumnMapping,
  type Delimiter,
  fieldOfHeader,
  type ImportColumns,
  importInvalid,
  importTooLarge,
  ownCells,
  readHeader,
  readRow,
} from '../../schemas/importRows.js';
import type { Program } from '../../schemas/programs.js';
import { openText, type UploadFile } from './decodeText.js';
import { delimiterOf, firstRecord } from './delimiter.js';

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
  chunks: AsyncGenerator<ImportRow[]>;
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

const newLine = 10;

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
  let from = 0;
  let length = before;
  for (;;) {
    const end = bytes.indexOf(newLine, from);
    length += (end < 0 ? bytes.length : end) - from;
    if (length > maxLine) throw importInvalid(`it has a line of more than ${maxLine} bytes.`);
    if (end < 0) return length;
    from = end + 1;
    length = 0;
  }
}

const parseProblems: Partial<Record<CsvError['code'], string>> = {
  CSV_MAX_RECORD_SIZE: `it has a row of more than ${maxRecord} bytes, or a quote that is never closed.`,
  CSV_QUOTE_NOT_CLOSED: 'it has a quote that is never closed.',
  CSV_INVALID_CLOSING_QUOTE: 'it has a quote that is neither doubled nor at the end of its cell.',
  INVALID_OPENING_QUOTE: 'it has a quote inside a cell that does not begin with one.',
};

function problemOf(error: unknown, line: number): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const problem = parseProblems[code as CsvError['code']];
  if (problem) return importInvalid(`near line ${line} ${problem}`);
  return code.startsWith('CSV_') ? importInvalid('it is not CSV.') : error;
}

async function* recordsOf(text: AsyncIterable<string>, delimiter: Delimiter): AsyncGenerator<string[]> {
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    // Spreadsheets write lines that contain only delimiters.
    skip_records_with_empty_values: true,
    max_record_size: maxRecord,
  });
  const source = Readable.from(sliced(text), { objectMode: false });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const record of parser) yield record;
  } catch (error) {
    throw problemOf(error, parser.info.lines);
  } finally {
    source.destroy();
  }
}

/** The text up to the end of the header, and the complete text including it. */
async function headOf(text: AsyncGenerator<string>): Promise<{ header: string; all: AsyncGenerator<string> }> {
  let head = '';
  let header: string | undefined;
  while (header === undefined && head.length <= maxLine) {
    const next = await text.next();
    if (next.done) break;
    head += next.value;
    if (next.value.includes('\n')) header = firstRecord(head);
  }
  async function* all(): AsyncGenerator<string> {
    yield head;
    yield* text;
  }
  return { header: header ?? firstRecord(`${head}\n`) ?? '', all: all() };
}

/** Throws IMPORT_INVALID and IMPORT_TOO_LARGE, also while the chunks are read. */
export async function readRows(input: ReadRows): Promise<UploadedRows> {
  const { file, mapping = new Map() } = input;
  const { charset, text } = await openText({ ...file, bytes: counted(file.bytes, input) });
  const { header, all } = await headOf(text);
  const isKnown = (cell: string) => fieldOfHeader(cell, mapping) !== undefined;
  // The parser refuses a longer header.
  const delimiter = delimiterOf(header.slice(0, maxRecord), isKnown);
  const records = recordsOf(all, delimiter);
  const first = await records.next();
  if (first.done) throw importInvalid('it is empty.');
  const cells = first.value;
  const columns = await columnsOf(cells, { records, mapping });
  const chunks = chunksOf(records, { ...input, columns });
  return { charset, delimiter, cells, columns, header: ownCells(cells, columns), chunks };
}

async function columnsOf(
  header: string[],
  { records, mapping }: { records: AsyncGenerator<string[]>; mapping: ColumnMapping },
): Promise<ImportColumns> {
  try {
    return readHeader(header, mapping);
  } catch (error) {
    await records.return(undefined);
    throw error;
  }
}

async function* chunksOf(
  records: AsyncGenerator<string[]>,
  {
    columns,
    program,
    maxRows,
    beyond,
    rowsPerChunk = 100,
  }: Pick<ReadRows, 'program' | 'maxRows' | 'beyond' | 'rowsPerChunk'> & { columns: ImportColumns },
): AsyncGenerator<ImportRow[]> {
  let row = 0;
  let chunk: ImportRow[] = [];
  for await (const cells of records) {
    row += 1;
    if (row > maxRows) throw importTooLarge(`${maxRows} rows`, beyond);
    chunk.push(readRow({ row, cells }, { columns, program }));
    if (chunk.length < rowsPerChunk) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
