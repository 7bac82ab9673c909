// Describes what is wrong with a value, one line for each mistake, in words that continue "The field ..." and never
// repeat the value. For an unknown field, the line suggests the nearest known one.
import { z } from 'zod';
import { definitionOf, fieldPaths, schemasAt } from './shapeWalk.rules.js';

export interface Mistake {
  path: string;
  message: string;
}

const typeNames: Record<string, string> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const formatNames: Record<string, string> = {
  datetime: 'a date and time, such as 2030-01-31T09:30:00Z',
  date: 'a date, such as 2030-01-31',
  email: 'an email address',
  url: 'an address, such as https://example.com/',
  uuid: 'a UUID',
};

const partNames: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

/** Such as "at least 3 characters", of a text's length, a list's length or a number. */
function bound(origin: string, words: string, limit: number | bigint): string {
  const parts = partNames[origin];
  return parts ? `must have ${words} ${limit} ${parts[limit === 1 ? 0 : 1]}` : `must be ${words} ${limit}`;
}

/** Such as "at most": whether the limit itself is allowed, and nothing else. */
const reach = (
  { exact, inclusive }: { exact?: boolean; inclusive?: boolean },
  within: string,
  beyond: string,
): string => {
  if (exact) return 'exactly';
  return inclusive ? within : beyond;
};

/** What is said where a schema has no words of its own. */
function plainMessage(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && ['invalid_type', 'invalid_value'].includes(issue.code ?? '')) return 'is required';
  switch (issue.code) {
    case 'invalid_type': {
      // zod says of a text that it should be a number, even where only whole ones are taken.
      const isWhole = issue.inst instanceof z.ZodNumberFormat;
      const name = typeNames[isWhole ? 'int' : issue.expected];
      if (name === undefined) return 'is not valid';
      return `must be ${name}${Array.isArray(issue.input) ? ', not a list' : ''}`;
    }
    case 'invalid_value': {
      const values = issue.values.map((value) => JSON.stringify(value));
      return `must be ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`;
    }
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return bound(issue.origin, reach(issue, 'at least', 'more than'), issue.minimum);
    case 'too_big':
      return bound(issue.origin, reach(issue, 'at most', 'less than'), issue.maximum);
    case 'invalid_format': {
      if (issue.format === 'starts_with') return `must begin with ${issue.prefix}`;
      const name = formatNames[issue.format];
      return name === undefined ? 'is not valid' : `must be ${name}`;
    }
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'is not valid';
    case 'unrecognized_keys':
      return 'has unknown fields';
    default:
      return 'is not valid';
  }
}

// For every schema of the process: text.ts and config.schema.ts import this file, so that requests and settings have
// these words.
z.config({ localeError: plainMessage });

/** Further unknown fields are only named, because anybody may send very many. */
const maxAnswered = 10;

/** `noun` is what the keys of the value are to its sender. */
export function mistakesOf(
  schema: z.ZodType,
  error: z.ZodError,
  noun: 'field' | 'query parameter' = 'field',
): Mistake[] {
  const isUnknown = `is not a known ${noun}`;
  let unknown = 0;
  return error.issues.flatMap((issue) => {
    const path = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => {
      unknown += 1;
      const near = unknown <= maxAnswered ? nearestField(schema, issue.path, key) : undefined;
      return {
        path: [path, key].filter(Boolean).join('.'),
        message: near === undefined ? isUnknown : `${isUnknown}; did you mean ${near}?`,
      };
    });
  });
}

function nearestField(schema: z.ZodType, path: readonly PropertyKey[], key: string): string | undefined {
  const siblings = schemasAt(schema, path).flatMap((found) => Object.keys(definitionOf(found).shape ?? {}));
  return nearest(key, siblings) ?? nearest(key, fieldPaths(schema));
}

/** The known field that is most similar to the word, if any is similar. Compares only the last part of a path. */
export function nearest<F extends string>(word: string, known: readonly F[]): F | undefined {
  const most = Math.max(1, Math.ceil(word.length / 3));
  let best: { field: F; distance: number } | undefined;
  for (const field of known) {
    const distance = distanceBetween(word, field.slice(field.lastIndexOf('.') + 1));
    if (distance <= most && (best === undefined || distance < best.distance)) best = { field, distance };
  }
  return best?.field;
}

/** Longer words are not compared. */
const maxLength = 40;

/**
 * The number of letters to insert, remove, replace or swap with the next one, regardless of case; Infinity for words
 * that are too long. Not leven or fastest-levenshtein, for which a swap is two mistakes.
 */
export function distanceBetween(one: string, other: string): number {
  const [from, to] = [one.toLowerCase(), other.toLowerCase()];
  if (Math.max(from.length, to.length) > maxLength) return Infinity;
  let [before, row]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const cost = from[i - 1] === to[j - 1] ? 0 : 1;
      const steps = [(row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost];
      if (from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) steps.push((before[j - 2] ?? Infinity) + 1);
      next.push(Math.min(...steps));
    }
    [before, row] = [row, next];
  }
  return row[to.length] ?? Infinity;
}
