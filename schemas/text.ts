// Text from clients is stored and shown unchanged. Text that a screen, a log line or a CSV cell cannot hold is
// therefore refused: control characters (line breaks and tabs too) and lone surrogates (docs/interface.md#14-requests).
import { z } from 'zod';

/** The control characters, for the inside of a class of a regular expression. */
export const controls = '\\u0000-\\u001f\\u007f-\\u009f';

const withoutControls = new RegExp(`^[^${controls}\\u2028\\u2029]*$`);

const message = 'must not contain control characters or broken Unicode';

/** A string without lone surrogates, which are no Unicode text and which MongoDB would store as something else. */
export const wellFormed = (refusal?: string) => z.string().refine((value) => value.isWellFormed(), refusal);

/** For fields that transform their input afterwards. The pattern also appears in the OpenAPI document. */
export const plainText = () => wellFormed(message).regex(withoutControls, message);

/** Text of `min` to `max` characters (code points, as in JSON Schema). */
export function text(min: number, max: number) {
  return plainText().min(min).max(max);
}

/**
 * Like {@link text}, but spaces at both ends are removed before the length is checked. Control characters are refused
 * there too.
 */
export function trimmedText(min: number, max: number) {
  return plainText().trim().min(min).max(max);
}

/** Like {@link trimmedText}, for text that people paste: line ends and tabs around it are removed too. */
export function pastedText(min: number, max: number) {
  return wellFormed(message).trim().regex(withoutControls, message).min(min).max(max);
}
