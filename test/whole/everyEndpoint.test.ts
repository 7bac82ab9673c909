// The last test of a whole run checks that every endpoint was called by the test that docs/endpoints.md names for it.
import { expect, test } from 'vitest';
import { type EndpointName, endpoints } from '../../schemas/endpoints/index.js';
import { provenBy } from '../rig/provenBy.js';
import { seenOperations } from '../rig/seenOperations.js';

test('every endpoint was called by the test that docs/endpoints.md names', () => {
  const seen = seenOperations();
  if (!seen) throw new Error('This reads what the other tests called, so it says something only after all of them.');
  const names = Object.keys(endpoints) as EndpointName[];
  const unproven = names.filter((name) => !seen.get(name)?.has(provenBy[name]));
  expect(unproven.map((name) => `${name}: ${[...(seen.get(name) ?? ['nobody'])].join(', ')}`)).toEqual([]);
});
