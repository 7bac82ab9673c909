// CSV in the browser: shows the columns and the failed rows of a file. The service parses the file itself, and
// like here leaves out rows of white space. Not csv-parse, which needs three times as long and twice the bytes here.
import Papa from 'papaparse';
import { decideColumns, isAddedTitle } from '../schemas/batches/columnTitles.rules.js';
import { delimiterOf, firstRecord, separatorLine } from '../schemas/batches/delimiter.rules.js';

const isKnown = (title: string): boolean => isAddedTitle(title) || decideColumns([title])[0]?.is !== 'unknown';

export function separatorOf(text: string): string {
  const named = separatorLine.exec(text)?.[1];
  if (named !== undefined) return named;
  // The last line may have no end.
  return delimiterOf(firstRecord(`${text}\n`) ?? text, isKnown);
}

export function parseCsv(text: string, delimiter = separatorOf(text)): string[][] {
  const lines = text.replace(separatorLine, '').replaceAll(/\r\n?/g, '\n');
  return Papa.parse<string[]>(lines, { delimiter, newline: '\n', skipEmptyLines: 'greedy' }).data;
}
