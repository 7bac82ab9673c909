// What is wrong with a row of an import, as codes: the sentence is in the language of who reads it.
import type { $ZodIssue } from 'zod/v4/core';
import { catalogues, type Language } from '../shared/languages/index.js';
import type { ImportField } from './columnTitles.rules.js';

type Rule = keyof (typeof catalogues)['en']['importMistakes'];

export interface RowMistake {
  /** Absent where it is about the whole row. */
  field?: ImportField;
  rule: Rule;
  /** How much is allowed, or the number of cells of the header. */
  limit?: number;
  /** The number of cells of the row. */
  given?: number;
  /** The barcode of the card. */
  format?: string;
}

const ofField: Partial<Record<ImportField, Rule>> = { email: 'email', phone: 'phone' };

/** The code of what the schema of a person says. */
export function mistakeOf(issue: $ZodIssue): RowMistake & { field: ImportField } {
  const field = String(issue.path[0]) as ImportField;
  const own = ofField[field];
  if (own) return { field, rule: own };
  if (issue.code === 'too_big') return { field, rule: 'atMost', limit: Number(issue.maximum) };
  if (issue.code === 'too_small') return { field, rule: 'atLeast', limit: Number(issue.minimum) };
  if (issue.code === 'custom' && issue.params?.rule === 'tooLong')
    return { field, rule: 'tooLong', limit: Number(issue.params.limit) };
  return { field, rule: field === 'initialPoints' ? 'whole' : 'characters' };
}

export function mistakeText(language: Language, { rule, limit = 0, given = 0, format = '' }: RowMistake): string {
  const text = catalogues[language].importMistakes[rule];
  return typeof text === 'function' ? text({ limit, given, format }) : text;
}
