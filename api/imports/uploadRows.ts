// Turns the bytes of a file into the rows of an import, in constant memory: strict UTF-8, RFC 4180, bounded length of
// lines and rows. An error in the file may be thrown only after some chunks were read; the caller has to discard their
// rows.
import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import type { ImportRow } from '../../schemas/collections.js';
import { type ImportColumns, importInvalid, importTooLarge, readHeader, readRow } from '../../schemas/importRows.js';
import type { Program } from '../../schemas/programs.js';

export interface RowLimits {
  maxBytes: number;
  maxRows: number;
}

export interface UploadedRows {
  /** The original cells of the first line. */
  header: string[];
  chunks: AsyncGenerator<ImportRow[]>;
}

export interface ReadRows extends RowLimits {
  file: AsyncIterable<Buffer>;
  program: Pick<Program, 'style' | 'goal'>;
}

const maxRecord = 16_384;
const maxLine = 65_536;
/** A chunk is created in one transaction, which must be short so that other transactions do not wait for it. */
const rowsPerChunk = 100;
/** Bytes between two pauses, in which the process can serve other requests. */
const slice = 16_384;

const newLine = 10;

/** Yields the bytes of the file after checking that they are text. Throws IMPORT_TOO_LARGE, IMPORT_INVALID. */
async function* textOf({ file, maxBytes }: Pick<ReadRows, 'file' | 'maxBytes'>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Buffer): void => {
    try {
      decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw importInvalid('it is not UTF-8 text.');
    }
  };
  let total = 0;
  let line = 0;
  for await (const bytes of file) {
    total += bytes.length;
    if (total > maxBytes) throw importTooLarge(`${maxBytes} bytes`);
    decode(bytes);
    if (bytes.includes(0)) throw importInvalid('it holds a NUL character.');
    line = longestLine(bytes, line);
    for (let from = 0; from < bytes.length; from += slice) {
      yield bytes.subarray(from, from + slice);
      await new Promise(setImmediate);
    }
  }
  decode();
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

async function* recordsOf(input: Pick<ReadRows, 'file' | 'maxBytes'>): AsyncGenerator<string[]> {
  const parser = parse({
    bom: true,
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    // Spreadsheets write lines that contain only commas.
    skip_records_with_empty_values: true,
    max_record_size: maxRecord,
  });
  const source = Readable.from(textOf(input), { objectMode: false });
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

/** Throws IMPORT_INVALID and IMPORT_TOO_LARGE; reading the chunks can throw them too. */
export async function readRows(input: ReadRows): Promise<UploadedRows> {
  const records = recordsOf(input);
  const first = await records.next();
  if (first.done) throw importInvalid('it is empty.');
  const header = first.value;
  const columns = await columnsOf(header, records);
  return { header, chunks: chunksOf(records, { ...input, columns }) };
}

async function columnsOf(header: string[], records: AsyncGenerator<string[]>): Promise<ImportColumns> {
  try {
    return readHeader(header);
  } catch (error) {
    await records.return(undefined);
    throw error;
  }
}

async function* chunksOf(
  records: AsyncGenerator<string[]>,
  { columns, program, maxRows }: Pick<ReadRows, 'program' | 'maxRows'> & { columns: ImportColumns },
): AsyncGenerator<ImportRow[]> {
  let row = 0;
  let chunk: ImportRow[] = [];
  for await (const cells of records) {
    row += 1;
    if (row > maxRows) throw importTooLarge(`${maxRows} rows`);
    chunk.push(readRow({ row, cells }, { columns, program }));
    if (chunk.length < rowsPerChunk) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
