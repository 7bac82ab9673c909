// Describes what is wrong with a value, one line for each mistake. For an unknown field, the line suggests the nearest
// known one.
import type { z } from 'zod';
import { definitionOf, fieldPaths, schemasAt } from './shapeWalk.js';

export interface Mistake {
  path: string;
  message: string;
}

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
 * that are too long.
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
