// What a whole file of an import is refused with, and the charsets that it may have.
import { type FileProblem, ServiceError } from '../shared/errors.js';

export const charsets = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Charset = (typeof charsets)[number];

/** Line ends of a file. Spreadsheets also write a lone CR. */
export const lineEnd = /\r\n?|\n/;

interface Refused {
  details?: unknown;
  /** What a person reads in the language of the screen; without it, that the file cannot be imported. */
  problem?: FileProblem;
}

export const importInvalid = (why: string, { details, problem }: Refused = {}): ServiceError =>
  new ServiceError('IMPORT_INVALID', details, `The file cannot be imported; nothing was created: ${why}`, {
    file: problem,
  });

/** `instead` names the alternative for larger files. */
export const importTooLarge = (limit: string, instead?: string): ServiceError =>
  new ServiceError(
    'IMPORT_TOO_LARGE',
    undefined,
    [`The import is over its limit of ${limit}; nothing was created.`, instead].filter(Boolean).join(' '),
  );
