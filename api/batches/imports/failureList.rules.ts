// The rows of a dry run that fail, or lack a cell, with their reasons. There are few different reasons, each with its
// own mistakes, so that a million rows need 12 MB; their JSON is made in parts.
import type { z } from 'zod';
import type { importFailure } from '../../../schemas/batches/batches.schema.js';
import { mistakeText, type RowMistake } from '../../../schemas/batches/importMistakes.rules.js';
import type { Language } from '../../../schemas/shared/languages/index.js';

type Failure = z.infer<typeof importFailure>;

/** A row with the codes of its mistakes, of which the reason is the sentence. */
type FailedRow = Omit<Failure, 'mistakes'> & { mistakes: readonly RowMistake[] };

/** Row, line and the number of the reason. */
const width = 3;
const rowsPerPart = 100;

export interface FailureList {
  add: (failure: FailedRow) => void;
  size: () => number;
  json: () => AsyncGenerator<string>;
}

export function createFailureList(language: Language): FailureList {
  const reasons = new Map<string, { at: number; mistakes: readonly RowMistake[] }>();
  let numbers = new Uint32Array(width * 1_024);
  let used = 0;

  async function* json() {
    const texts = [...reasons].map(([reason, { mistakes }]) => ({
      reason,
      mistakes: mistakes.map((mistake) => ({
        ...(mistake.field && { field: mistake.field }),
        display: mistakeText(language, mistake),
      })),
    }));
    const failureAt = (at: number): Failure => {
      const [row = 0, line = 0, reason = 0] = numbers.subarray(at, at + width);
      return { row, line, ...(texts[reason] ?? { reason: '', mistakes: [] }) };
    };
    for (let from = 0; from < used; from += width * rowsPerPart) {
      const length = Math.min(rowsPerPart, (used - from) / width);
      const part = Array.from({ length }, (_, index) => failureAt(from + index * width));
      yield (from === 0 ? '[' : ',') + JSON.stringify(part).slice(1, -1);
      // Other requests are served in between.
      await new Promise(setImmediate);
    }
    yield used === 0 ? '[]' : ']';
  }

  return {
    add({ row, line, reason, mistakes }) {
      const { at } = reasons.get(reason) ?? { at: reasons.size };
      reasons.set(reason, { at, mistakes });
      if (used === numbers.length) {
        const grown = new Uint32Array(2 * used);
        grown.set(numbers);
        numbers = grown;
      }
      numbers.set([row, line, at], used);
      used += width;
    },
    size: () => used / width,
    json,
  };
}
