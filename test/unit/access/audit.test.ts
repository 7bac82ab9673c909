// What is audited: every endpoint that writes declares its audit entry, or the reason for having none.
import { describe, expect, it } from 'vitest';
import { type AuditAction, auditActions } from '../../../schemas/access/audit.schema.js';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { networkOf } from '../../../schemas/shared/ipAddress.rules.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';
import type { Command } from '../../../stack/commands/command.js';
import { keys } from '../../../stack/commands/keys.js';
import { merchants } from '../../../stack/commands/merchants.js';
import { passes } from '../../../stack/commands/passes.js';
import { programs } from '../../../stack/commands/programs.js';
import { readers } from '../../../stack/commands/readers.js';
import { roles } from '../../../stack/commands/roles.js';
import { tokens } from '../../../stack/commands/tokens.js';
import { users } from '../../../stack/commands/users.js';
import { webhooks } from '../../../stack/commands/webhooks.js';

const table: [string, Endpoint][] = Object.entries(endpoints);

describe('the audit', () => {
  it('has an entry for every endpoint that writes, or the reason for none', () => {
    const unknown = table.filter(([, { method, audit }]) => method !== 'get' && audit === undefined);
    expect(unknown.map(([name]) => name)).toEqual([]);
  });

  it('has an entry for every download of personal data, and for nothing else that only reads', () => {
    const reads = table.filter(([, { method }]) => method === 'get');
    const downloads = reads.filter(([, { path, result }]) => result === 'text/csv' || path.endsWith('/export'));
    expect(downloads.length).toBeGreaterThan(2);
    expect(reads.filter(([, { audit }]) => audit !== undefined)).toEqual(downloads);
  });

  it('has no unused action', () => {
    const commands: Command[] = [keys, merchants, passes, programs, readers, roles, tokens, users, webhooks];
    const taken = new Set<AuditAction | null>([
      ...table.flatMap(([, { audit }]) => (audit && 'action' in audit ? audit.action : [])),
      // By the sign-in pages (api/access/signIn.routes.ts).
      'user.sign-in',
      // By the device (activities/till/readers.writes.ts).
      'reader.pair',
      ...commands.flatMap(({ verbs }) => Object.values(verbs).map(({ audit }) => audit)),
    ]);
    expect(auditActions.filter((action) => !taken.has(action))).toEqual([]);
  });

  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:7:9:a:b:c:d', '2001:db8:7::/48'],
    ['2001:db8::1', '2001:db8::/48'],
    ['2001::7:8:9:a:b:c', '2001:0:7::/48'],
    ['::1', '::/48'],
    ['fe80::1%eth0', 'fe80::/48'],
    ['', null],
    ['unknown', null],
  ])('shortens the address %s to %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
