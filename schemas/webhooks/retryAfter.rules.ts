// The wait that a receiver asks for with `Retry-After` (RFC 9110, 10.2.3). It can lengthen a wait and never shorten one;
// an unreadable value counts as absent.
import { longestWaitMs } from './retries.rules.js';

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850 = /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** Milliseconds to wait from `now`, 0 to `longestWaitMs`; null when the header is absent or unreadable. */
export function parseRetryAfter(value: string | undefined, now: Date): number | null {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, longestWaitMs);
  const at = parseHttpDate(text);
  return at === null ? null : Math.min(Math.max(at - now.getTime(), 0), longestWaitMs);
}

function parseHttpDate(text: string): number | null {
  if (!imfFixdate.test(text) && !rfc850.test(text) && !asctime.test(text)) return null;
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : at;
}
