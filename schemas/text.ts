// Text that others send is stored and shown as it came, so what no screen, log line or CSV cell can hold is refused here:
// control characters (new lines and tabs too) and lone surrogates (decisions.md, "query and body oddities").
import { z } from 'zod';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what this finds
const withoutControls = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/;

const message = 'must not contain control characters or broken Unicode';

export const isPlainText = (value: string): boolean => value.isWellFormed() && withoutControls.test(value);

/** For a field that goes on to change what it was given. The pattern is for the documents too. */
export const plainText = () =>
  z
    .string()
    .regex(withoutControls, message)
    .refine((value) => value.isWellFormed(), message);

/** Text of `min` to `max` characters (code points, as in JSON Schema). */
export function text(min: number, max: number) {
  return plainText().min(min).max(max);
}

/** As {@link text}, with spaces at both ends taken off before the length is checked, but never a control character. */
export function trimmedText(min: number, max: number) {
  return plainText().trim().min(min).max(max);
}
