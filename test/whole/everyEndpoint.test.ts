// The last tests of a whole run: every endpoint was called by the test that test/rig/checks/provenBy.ts names for it, every
// audited action was in the audit, and every scan that is allowed was made.
import { expect, test } from 'vitest';
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import { type EndpointName, endpoints } from '../../schemas/tables/endpoints.js';
import { provenBy } from '../rig/checks/provenBy.js';
import { scanSeen, scansAllowed } from '../rig/checks/scans.js';
import { auditSeen, seenOperations } from '../rig/checks/seenOperations.js';

function seenBefore(): Map<string, Set<string>> {
  const seen = seenOperations();
  if (!seen) throw new Error('This reads what the other tests called, so it says something only after all of them.');
  return seen;
}

test('every endpoint was called by the test that is named for it', () => {
  const seen = seenBefore();
  const names = Object.keys(endpoints) as EndpointName[];
  const unproven = names.filter((name) => !seen.get(name)?.has(provenBy[name]));
  expect(unproven.map((name) => `${name}: ${[...(seen.get(name) ?? ['nobody'])].join(', ')}`)).toEqual([]);
});

test('every change that an endpoint makes was in the audit', () => {
  const seen = seenBefore();
  const actions = Object.values(endpoints).flatMap(({ audit }: Endpoint) =>
    audit && 'action' in audit ? audit.action : [],
  );
  expect([...new Set(actions)].filter((action) => !seen.has(auditSeen(action)))).toEqual([]);
});

test('every query that may scan a collection was sent', () => {
  const seen = seenBefore();
  expect(Object.keys(scansAllowed).filter((key) => !seen.has(scanSeen(key)))).toEqual([]);
});
