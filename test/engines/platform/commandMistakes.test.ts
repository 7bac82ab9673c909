// What the operators' commands make of wrong words: a sentence for each mistake and exit code 1, never a stack.
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command } from '../../../stack/commands/command.js';
import { keys } from '../../../stack/commands/keys.js';
import { merchants } from '../../../stack/commands/merchants.js';
import { outbox } from '../../../stack/commands/outbox.js';
import { passes } from '../../../stack/commands/passes.js';
import { programs } from '../../../stack/commands/programs.js';
import { readers } from '../../../stack/commands/readers.js';
import { roles } from '../../../stack/commands/roles.js';
import { secrets } from '../../../stack/commands/secrets.js';
import { tokens } from '../../../stack/commands/tokens.js';
import { users } from '../../../stack/commands/users.js';
import { webhooks } from '../../../stack/commands/webhooks.js';
import { runOn } from '../../rig/start/commandLine.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchantId: string;
let folder: string;

beforeAll(async () => {
  service = await startService();
  ({ id: merchantId } = await aMerchant(service));
  folder = await mkdtemp(join(tmpdir(), 'wrong-words-'));
  writeFileSync(join(folder, 'broken.json'), '{"_id":');
  writeFileSync(join(folder, 'null.json'), 'null');
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** What no output may have: a stack, or a name that only the code knows. */
const ofTheCode =
  /^\s+at |TypeError|undefined|\[object|ZodError|MongoServerError|E[A-Z]{4,}:|a file is|error\.details|node:internal/m;

const long = 'x'.repeat(5_000);
/** Mistakes that any command can be given. MERCHANT and FOLDER stand for those of this test. */
const anyWords = [[''], ['explode'], ['constructor'], ['--merchant'], ['--explode'], [long], ['\u0000'], ['__proto__']];
const own: [Command, string[][]][] = [
  [
    keys,
    [
      ['create'],
      ['create', '--merchant', 'MERCHANT', '--name', 'till', '--role', 'cashier'],
      ['create', '--merchant', 'MERCHANT', '--name', 'till', '--role', ''],
      ['create', '--merchant', 'MERCHANT', '--name', 'till', '--role', 'owner', '--expires', 'soon'],
      ['create', '--merchant', 'MERCHANT', '--name', 'till', '--role', 'owner', '--expires', '2001-01-31'],
      ['create', '--merchant', 'MERCHANT', '--name', 'till', '--role', 'owner', '--expires', '20300-01-31'],
      ['create', '--merchant', 'MERCHANT', '--name', 'till', '--role', 'owner', '--network', '10.0.0.0/99'],
      ['create', '--merchant', 'MERCHANT', '--name', 'till', '--role', 'owner', 'surplus'],
      ['create', '--merchant', 'MERCHANT', '--name', long, '--role', 'owner'],
      ['list'],
      ['list', 'MERCHANT'],
      ['revoke', '--merchant', 'MERCHANT'],
      ['revoke', 'unknown', '--merchant', 'MERCHANT'],
    ],
  ],
  [
    roles,
    [
      ['create', '--merchant', 'MERCHANT', '--name', 'counter'],
      ['create', '--merchant', 'MERCHANT', '--name', 'counter', 'till:abuse'],
      ['create', '--merchant', 'MERCHANT', 'till:use'],
      ['create', '--merchant', 'MERCHANT', '--name', long, 'till:use'],
      ['create', '--merchant', 'MERCHANT', '--name', ' ', 'till:use'],
      ['list', 'MERCHANT'],
    ],
  ],
  [
    users,
    [
      ['invite'],
      ['invite', 'ada', '--merchant', 'MERCHANT', '--role', 'owner'],
      ['invite', 'ada@example.com', 'bob@example.com', '--merchant', 'MERCHANT', '--role', 'owner'],
      ['invite', 'ada@example.com', '--merchant', 'MERCHANT'],
      ['invite', 'ada@example.com', '--merchant', 'MERCHANT', '--role', 'cashier'],
      ['link', 'ada@example.com', '--merchant', 'MERCHANT'],
      ['list'],
      ['remove', 'ada@example.com', '--merchant', 'MERCHANT'],
      ['remove', 'ada@example.com', '--merchant', 'MERCHANT', '--revoke-keys=yes'],
    ],
  ],
  [
    tokens,
    [
      ['create', '--merchant', 'MERCHANT', '--role', 'owner'],
      ['create', '--merchant', 'MERCHANT', '--user', 'ada', '--role', 'cashier'],
      ['create', '--merchant', 'MERCHANT', '--user', 'ada', '--role', 'owner', '--expires', 'never'],
      ['create', '--merchant', 'MERCHANT', '--user', 'ada', '--role', 'owner', '--expires', '0h'],
    ],
  ],
  [secrets, [['status'], ['reseal'], ['status', 'all'], ['reseal', '--key', 'old'], ['status', '--merchant', 'x']]],
  [webhooks, [['failing', 'MERCHANT'], ['revoke-secrets'], ['revoke-secrets', 'a', 'b'], ['revoke-secrets', 'a']]],
  [readers, [['list'], ['list', 'MERCHANT'], ['revoke'], ['revoke', 'a', 'b'], ['revoke', 'unknown']]],
  [
    outbox,
    [
      ['status', 'now'],
      ['drain', '--within', 'soon'],
      ['drain', '--within', '-1'],
      ['drain', '--within'],
      ['drain', '9'],
    ],
  ],
  [passes, [['rebuild'], ['rebuild', 'a', 'b'], ['rebuild', 'unknown'], ['missing', 'a', 'b'], ['missing', 'unknown']]],
  [
    programs,
    [
      ['apply'],
      ['apply', 'FOLDER/nowhere.json'],
      ['apply', 'FOLDER/broken.json', '--merchant', 'MERCHANT'],
      ['apply', 'FOLDER/null.json', '--merchant', 'MERCHANT'],
      ['apply', 'FOLDER', '--merchant', 'MERCHANT'],
      ['archive'],
      ['archive', 'unknown'],
      ['expire', 'unknown', '--at', 'tomorrow'],
      ['list', 'MERCHANT'],
    ],
  ],
  [
    merchants,
    [
      ['create'],
      ['create', '--name', 'Corner Café', '--id', 'not an id'],
      ['create', '--name', long],
      ['create', 'Corner Café'],
      ['suspend'],
      ['suspend', '../..'],
      ['limit', 'MERCHANT'],
      ['limit', 'MERCHANT', '--campaignsADay', 'many'],
      ['limit', 'MERCHANT', '--tags', '99999999'],
      ['export', 'nobody-at-all'],
      ['export', 'MERCHANT', '--to', 'FOLDER/no/where.jsonl'],
      ['export', 'MERCHANT', '--to', 'FOLDER'],
      ['remove', 'MERCHANT'],
      ['erasures', '--since', 'yesterday'],
      ['re-erase', 'FOLDER/nowhere.jsonl'],
      ['re-erase', 'FOLDER/broken.json'],
      ['re-erase', 'FOLDER'],
      ['audit'],
    ],
  ],
];

const meant = (words: string[]) => words.map((word) => word.replace('MERCHANT', merchantId).replace(/^FOLDER/, folder));

describe.each(own.map(([command, words]) => ({ name: command.name, command, words })))('$name', (given) => {
  const { name, command, words } = given;

  it('explains each verb with an example', async () => {
    for (const argv of [['--help'], ...Object.keys(command.verbs).map((verb) => [verb, '--help'])]) {
      const { code, lines } = await runOn(service, command, argv);
      expect([argv, code]).toEqual([argv, 0]);
      expect(lines.join('\n')).toContain(`Example: npm run -s ${name} -- `);
    }
    for (const [verb, { example, usage }] of Object.entries(command.verbs))
      for (const text of [example, usage]) expect(text.split(' ')[0]).toBe(verb);
  });

  it.each([...anyWords, ...words].map((argv) => ({ argv, line: argv.join(' ').slice(0, 60) })))(
    'answers the mistake of "$line" with a sentence',
    async ({ argv }) => {
      const { code, lines, errors } = await runOn(service, command, meant(argv));
      const printed = errors.join('\n');
      expect([code, lines]).toEqual([1, []]);
      expect(printed).toMatch(/\w/);
      expect(printed.length).toBeLessThan(1_000);
      expect(printed).not.toMatch(ofTheCode);
    },
  );
});

it('says anything but a stack, whatever the words are', async () => {
  const all = own.map(([command]) => command);
  const words = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('--merchant', '--name', '--role', '--to', '--within', '--yes', '--expires', 'owner', '-', '--'),
  );
  const given = fc.constantFrom(...all).chain((command) =>
    fc.record({
      command: fc.constant(command),
      verb: fc.constantFrom(...Object.keys(command.verbs).filter((verb) => verb !== 'drain')),
      rest: fc.array(words, { maxLength: 5 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(given, async ({ command, verb, rest }) => {
      const { code, lines, errors } = await runOn(service, command, [verb, ...rest]);
      expect([0, 1]).toContain(code);
      if (code === 1) expect(errors.join('')).toMatch(/\S/);
      expect([...lines, ...errors].join('\n')).not.toMatch(/^\s+at |TypeError|node:internal/m);
    }),
    { numRuns: 150 },
  );
});
