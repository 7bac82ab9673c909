// Email addresses that can receive mail (RFC 5321), in lower case. The domain is in its DNS form, so the Unicode and
// ASCII forms of an international domain are one address.
import { domainToASCII } from 'node:url';
import { plainText } from './text.js';

const maxLength = 254;
const maxLocal = 64;
const maxDomain = 253;
/** Atoms separated by single dots: no quotes, comments or spaces. */
const local = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** At least two labels of 1 to 63 characters, without a hyphen at either end. */
const domain = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;
/** Letters, or an international name; digits would be an IP address. */
const topLevel = /\.(?:[a-z]{2,}|xn--[a-z0-9-]+)$/;

/** The address in its stored form; null for one that cannot receive mail. `text` is trimmed and in lower case. */
function mailAddress(text: string): string | null {
  const at = text.lastIndexOf('@');
  const name = text.slice(0, at);
  const given = text.slice(at + 1);
  // The ASCII form also maps full-width and other look-alike characters; ASCII text maps to itself or to nothing.
  const host = /[/?#:\\%@[\]]/.test(given) ? '' : domainToASCII(given);
  const address = `${name}@${host}`;
  const fits = at > 0 && name.length <= maxLocal && host.length <= maxDomain && address.length <= maxLength;
  return fits && local.test(name) && domain.test(host) && topLevel.test(host) ? address : null;
}

export const email = plainText()
  .trim()
  .toLowerCase()
  .max(maxLength)
  .refine((value) => mailAddress(value) !== null, 'must be an email address')
  .overwrite((value) => mailAddress(value) ?? value)
  .meta({ format: 'email' });
