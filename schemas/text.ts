// Text that others send is stored and shown as it came, so what no screen, log line or CSV cell can hold is refused here:
// control characters (new lines and tabs too) and lone surrogates (decisions.md, "query and body oddities").
import { z } from 'zod';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what this finds
const controlCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

export function isPlainText(value: string): boolean {
  return value.isWellFormed() && !controlCharacter.test(value);
}

/** Text of `min` to `max` characters (UTF-16 units). */
export function text(min: number, max: number) {
  return z.string().min(min).max(max).refine(isPlainText, 'must not contain control characters or broken Unicode');
}

/** As {@link text}, with white space at both ends taken off before the length is checked. */
export function trimmedText(min: number, max: number) {
  return z
    .string()
    .trim()
    .min(min)
    .max(max)
    .refine(isPlainText, 'must not contain control characters or broken Unicode');
}
