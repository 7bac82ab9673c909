// The finder of traces finds a value in every form in which the service may write it, and finds nothing where there is
// none.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { tracesIn } from '../../rig/checks/findTraces.js';

const email = 'Grace.Höpper+x@example.com';
const phone = '+49 170 5551234';
const json = JSON.stringify({ before: 'x', email });
const sha = (text: string) => createHash('sha256').update(text);

test.each([
  ['as it is', `a ${email} b`, email],
  ['in lower case', email.toLowerCase(), email],
  ['folded as a search word', 'grace.hopper+x@example.com', email],
  ['in a URL', `?q=${encodeURIComponent(email)}`, email],
  ['in a form', new URLSearchParams({ email }).toString(), email],
  ['in base64 by itself', Buffer.from(email).toString('base64'), email],
  ['in base64 of a document', Buffer.from(json).toString('base64'), email],
  ['in base64 of a document, one further', Buffer.from(` ${json}`).toString('base64'), email],
  ['in base64 of a document, two further', Buffer.from(`  ${json}`).toString('base64'), email],
  ['in base64url', Buffer.from(json).toString('base64url'), email],
  ['in hex', Buffer.from(json).toString('hex'), email],
  ['escaped in JSON', JSON.stringify('say "Höpper"'), 'say "Höpper"'],
  ['escaped to ASCII', 'H\\u00f6pper', 'Höpper'],
  ['as a digest', sha(email).digest('hex'), email],
  ['as a digest of the lower case', sha(email.toLowerCase()).digest('hex'), email],
  ['as a digest in base64', sha(email).digest('base64'), email],
  ['as a digest in base64url', sha(email).digest('base64url'), email],
  ['as digits', '491705551234', phone],
])('finds a value %s', (_form, text, value) => {
  expect(tracesIn('here', text, [value])).toMatchObject([{ place: 'here', value }]);
});

test('finds nothing in the text of another person', () => {
  const other = JSON.stringify({
    email: 'ada@example.com',
    phone: '+49 170 5551235',
    bytes: sha('ada').digest('base64'),
  });
  expect(tracesIn('here', other, [email, phone])).toEqual([]);
});
