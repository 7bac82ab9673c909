// The operators' commands: each one does everything that was requested or nothing, and reports the result in words and
// by its exit code.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentOf } from '../../../activities/programs/programHead.reads.js';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import type { Command } from '../../../stack/commands/command.js';
import { keys } from '../../../stack/commands/keys.js';
import { merchants } from '../../../stack/commands/merchants.js';
import { outbox } from '../../../stack/commands/outbox.js';
import { passes } from '../../../stack/commands/passes.js';
import { programs } from '../../../stack/commands/programs.js';
import { readers } from '../../../stack/commands/readers.js';
import { roles } from '../../../stack/commands/roles.js';
import { tokens } from '../../../stack/commands/tokens.js';
import { users } from '../../../stack/commands/users.js';
import { webhooks } from '../../../stack/commands/webhooks.js';
import { pastCache } from '../../rig/checks/pastCache.js';
import { until } from '../../rig/checks/until.js';
import { noisePng } from '../../rig/standins/noisePng.js';
import { startReceiver } from '../../rig/standins/receiver.js';
import { type Ran, runOn } from '../../rig/start/commandLine.js';
import { aDesigner } from '../../rig/start/designer.js';
import { forkEngines } from '../../rig/start/forkEngines.js';
import { aMerchant, manyMembers, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let folder: string;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-programs-'));
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (command: Command, line: string, env?: Record<string, string>): Promise<Ran> =>
  runOn(service, command, line.split(' ').filter(Boolean), env);

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Runs the command in a separate process, as `npm run programs` does. */
async function asProcess(args: string[]): Promise<{ code: number | null; errors: string[] }> {
  const { MONGODB_DATABASE, MONGODB_URI } = service.deps.config;
  const env = { ...process.env, MONGODB_URI, MONGODB_DATABASE, TEMPORAL_ADDRESS: forkEngines().temporalAddress };
  const child = spawn(process.execPath, ['--import', 'tsx', 'stack/commands/programs.ts', ...args], { env });
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code, errors: errors.split('\n').filter(Boolean) };
}

const drawnIcon = (side: number): string =>
  encodePng(canvas(side, side), { paper: '#202020', ink: '#e0e0e0' }).toString('base64');

const cafe = {
  ...{ _id: 'cafe', slug: 'cafe', merchantId: 'demo', name: 'Café' },
  ...{ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 8 },
};
const stored = () => service.deps.collections.programs.find().sort({ _id: 1 }).toArray();

describe.each([keys, merchants, outbox, passes, programs, readers, roles, tokens, users, webhooks])(
  'every command: $name',
  (command) => {
    it('explains itself with --help without a connection', async () => {
      const { code, lines, errors } = await run(command, '--help', { MONGODB_URI: '' });
      expect([code, errors]).toEqual([0, []]);
      for (const verb of Object.keys(command.verbs))
        expect(lines.join('\n')).toContain(`npm run ${command.name} -- ${verb}`);
    });

    it('lists its verbs when the verb is unknown', async () => {
      const verbs = Object.keys(command.verbs).join(', ');
      expect(await run(command, '')).toMatchObject({ code: 1, errors: [`say one of: ${verbs}; --help tells more`] });
      expect((await run(command, 'fly')).errors).toEqual([`"fly" is none of: ${verbs}; --help tells more`]);
      const [verb = ''] = Object.keys(command.verbs);
      const unknown = await run(command, `${verb} --flapping`);
      const dashed =
        "To specify a positional argument starting with a '-', place it at the end of the command after '--'";
      const hint = command.verbs[verb]?.takesWords ? `. ${dashed}` : '';
      expect([unknown.code, unknown.errors]).toEqual([1, [`Unknown option '--flapping'${hint}; --help tells more`]]);
    });
  },
);

describe('a word that begins with a dash', () => {
  it.each([
    ['archive -summer', "after '--'; --help tells more"],
    ['apply cafe.json --merchant -m1', "use '--merchant=-XYZ'; --help tells more"],
  ])('of %s is refused with how to write it', async (line, hint) => {
    const { code, errors } = await run(programs, line);
    expect([code, errors.length]).toEqual([1, 1]);
    expect(errors[0]).toContain(hint);
  });

  it('is taken when it is written so', async () => {
    expect((await run(programs, 'archive -- -summer')).errors).toEqual([
      'there is no program "-summer"; nothing was changed',
    ]);
  });
});

describe('a command without a stack', () => {
  it('explains how to name one', async () => {
    const { code, errors } = await run(programs, 'list', { MONGODB_URI: '', STACK_DIR: folder });
    expect([code, errors.length]).toEqual([1, 1]);
    expect(errors[0]).toMatch(/npm start.*MONGODB_URI and TEMPORAL_ADDRESS/);
  });

  it('reports that MongoDB does not answer', async () => {
    const env = { MONGODB_URI: 'mongodb://127.0.0.1:9/?directConnection=true' };
    expect(await run(programs, 'list', env)).toMatchObject({
      code: 1,
      errors: ['MongoDB does not answer; nothing was changed'],
    });
  });
});

describe('programs', () => {
  it('need a merchant, in the file or as an option, as soon as there is another merchant than the demo', async () => {
    const key = await service.deps.collections.apiKeys.findOneAndDelete({ merchantId: merchant.id });
    const path = file('cafe.json', { ...cafe, merchantId: undefined });
    const refusal = `${path}: merchantId is required, here or as --merchant: there are more merchants than the demo's`;
    expect(await run(programs, `apply ${path}`)).toMatchObject({ code: 0, errors: [] });
    for (const name of ['merchants', 'programs', 'programDrafts', 'apiKeys', 'users']) {
      const rows = service.deps.mongo
        .db(service.deps.config.MONGODB_DATABASE)
        .collection<{ _id: string; merchantId: string }>(name);
      await rows.insertOne({ _id: 'second', merchantId: 'second' });
      const { code, errors } = await run(programs, `apply ${path}`);
      expect([name, code, errors]).toEqual([name, 1, [refusal, 'nothing was changed']]);
      expect((await run(programs, `apply ${path} --merchant demo`)).code).toBe(0);
      await rows.deleteOne({ _id: 'second' });
    }
    const second = file('second.json', { ...cafe, _id: 'second', slug: 'second', merchantId: 'second' });
    expect((await run(programs, `apply ${second} ${path}`)).errors).toEqual([refusal, 'nothing was changed']);
    expect(await run(programs, `apply ${second} --merchant demo`)).toMatchObject({
      code: 1,
      errors: [`${second}: merchantId is "second", but --merchant "demo"`, 'nothing was changed'],
    });
    if (key) await service.deps.collections.apiKeys.insertOne(key);
  });

  it('applies files with one program or several, and applies them again', async () => {
    const one = file('one.json', cafe);
    const two = file('two.json', [
      { ...cafe, _id: 'bar', slug: 'bar', merchantId: merchant.id },
      { ...cafe, _id: 'inn', slug: 'inn', style: 'points', goal: undefined },
    ]);
    const applied = await run(programs, `apply ${one} ${two}`);
    expect(applied).toMatchObject({ code: 0, errors: [] });
    expect(applied.lines[0]).toBe('applied cafe (stamps, slug cafe) of merchant demo');
    expect((await stored()).map(({ _id, merchantId }) => [_id, merchantId])).toEqual([
      ['bar', merchant.id],
      ['cafe', 'demo'],
      ['inn', 'demo'],
    ]);
    expect((await stored())[1]).toMatchObject({ pushMessages: true, archived: false, goal: 8 });

    await run(programs, `apply ${file('one.json', { ...cafe, goal: 9, pushMessages: false })}`);
    expect((await stored())[1]).toMatchObject({ goal: 9, pushMessages: false });
    expect((await merchant.call('/merchants/me/programs')).text).toContain('"slug":"bar"');
  });

  it('refuses all files for a mistake in one, names each mistake with its place, and changes nothing', async () => {
    const before = await stored();
    const png = 'data:image/png;base64,AAAA';
    const wrong = file('wrong.json', [
      { ...cafe, _id: 'ok', slug: 'ok' },
      { ...cafe, _id: 'no goal', slug: 'Ä', goal: undefined, colour: 'red' },
      { ...cafe, _id: 'taken', slug: 'inn' },
      { ...cafe, _id: 'bar', slug: 'other' },
      { ...cafe, _id: 'ok', slug: 'ok-2' },
      { ...cafe, _id: 'image', slug: 'image', passTemplate: { images: { logo: png } } },
    ]);
    const broken = file('broken.json', '{');
    const { code, lines, errors } = await run(
      programs,
      `apply ${file('good.json', { ...cafe, goal: 5 })} ${wrong} ${broken} ${folder}/absent.json`,
    );
    expect([code, lines]).toEqual([1, []]);
    const text = errors.join('\n').replaceAll(folder, '');
    for (const mistake of [
      '/wrong.json[1]: _id must be 1 to 64 letters',
      '/wrong.json[1]: slug must be lower-case',
      '/wrong.json[1]: goal is required for a stamps program',
      '/wrong.json[1]: colour is not a known field',
      '/wrong.json[2]: slug "inn" is that of program inn',
      `/wrong.json[3]: _id "bar" is a program of merchant ${merchant.id}`,
      '/wrong.json[4]: _id "ok" is that of /wrong.json[0], too',
      '/wrong.json[5]: passTemplate.images',
      '/broken.json: ',
      '/absent.json: it does not exist',
    ])
      expect(text).toContain(mistake);
    expect(errors.at(-1)).toBe('nothing was changed');
    expect(await stored()).toEqual(before);
  });

  it('refuses a template that no phone would show and names each wrong image, run as a process', async () => {
    const before = await stored();
    const png = noisePng(400, 200, 2_000);
    const images = {
      icon: { '1x': drawnIcon(29), '3x': drawnIcon(87) },
      logo: { '1x': png.subarray(0, 900).toString('base64'), '2x': noisePng(2_000, 1_500, 700_000).toString('base64') },
      strip: Buffer.from('a picture').toString('base64'),
    };
    const path = file('images.json', [
      { ...cafe, goal: 3 },
      { ...cafe, _id: 'bad', slug: 'bad', passTemplate: { images } },
    ]);
    const said = await asProcess(['apply', path]);
    expect(said.code).toBe(1);
    expect(said.errors.map((line) => line.replace(path, ''))).toEqual([
      '[1]: passTemplate.images.icon.2x the image is missing',
      '[1]: passTemplate.images.logo.1x the image is cut off',
      expect.stringMatching(/^\[1\]: passTemplate\.images\.logo\.2x the image is \d{6} bytes, more than 524288$/),
      '[1]: passTemplate.images.strip the image is not a PNG',
      'nothing was changed',
    ]);
    expect(await stored()).toEqual(before);
  });

  it('creates a version for each change, starts a rebuild at once if there are members, and refuses to change a style in use', async () => {
    const { programs: live, programVersions, batches } = service.deps.collections;
    const versionOfCafe = async () => (await live.findOne({ _id: 'cafe' }))?.version;
    const before = (await versionOfCafe()) ?? 0;
    const changed = file('cafe.json', { ...cafe, goal: 12, $schema: '../program.schema.json' });
    for (let round = 0; round < 2; round += 1) {
      expect(await run(programs, `apply ${changed}`)).toMatchObject({
        code: 0,
        lines: ['applied cafe (stamps, slug cafe) of merchant demo'],
      });
      expect(await versionOfCafe()).toBe(before + 1);
    }
    expect(await programVersions.countDocuments({ programId: 'cafe' })).toBeGreaterThan(1);
    expect(await batches.countDocuments({ programId: 'cafe' })).toBe(0);

    const program = await live.findOne({ _id: 'cafe' });
    if (!program) throw new Error('There is no such program.');
    await manyMembers(service.deps, { program, count: 1 });
    const points = await run(programs, `apply ${file('style.json', { ...cafe, style: 'points' })}`);
    expect([points.code, points.errors.map((line) => line.replace(folder, ''))]).toEqual([
      1,
      ['/style.json: style is stamps and cannot change: the program has members', 'nothing was changed'],
    ]);
    const applied = await run(programs, `apply ${file('cafe.json', { ...cafe, goal: 13 })}`);
    const batch = await until(async () => {
      const row = await batches.findOne({ programId: 'cafe' });
      return row?.phase === 'completed' && row;
    });
    expect(batch.kind).toBe('passes.rebuild');
    expect(applied).toMatchObject({
      code: 0,
      lines: [
        'applied cafe (stamps, slug cafe) of merchant demo',
        `the passes of cafe are rebuilt by batch ${batch._id}`,
      ],
    });
  });

  it('replaces an unpublished edit of the console', async () => {
    const { programDrafts } = service.deps.collections;
    const draft = await programDrafts.findOne({ _id: 'cafe' });
    const waiting = {
      version: (draft?.version ?? 0) + 1,
      content: { ...contentOf({ ...programFile.parse(cafe), merchantId: 'demo' }), name: 'Waiting' },
    };
    await programDrafts.updateOne({ _id: 'cafe' }, { $set: waiting });
    expect((await run(programs, `apply ${file('cafe.json', { ...cafe, goal: 14 })}`)).code).toBe(0);
    const after = await programDrafts.findOne({ _id: 'cafe' });
    expect([after?.version, after?.content]).toEqual([waiting.version + 1, undefined]);
    expect((await stored())[1]).toMatchObject({ name: 'Café', goal: 14, version: waiting.version + 1 });
  });

  it('swap their slugs in one call', async () => {
    const pair = (one: string, other: string) =>
      file('pair.json', [
        { ...cafe, _id: 'one', slug: one },
        { ...cafe, _id: 'other', slug: other },
      ]);
    for (const [one, other] of [
      ['slug-a', 'slug-b'],
      ['slug-b', 'slug-a'],
      ['slug-c', 'slug-b'],
    ] as const) {
      expect(await run(programs, `apply ${pair(one, other)}`)).toMatchObject({ code: 0 });
      const live = { programId: { $in: ['one', 'other'] }, givenUpAt: { $exists: false } };
      const rows = await service.deps.collections.slugs.find(live).toArray();
      expect(rows.map(({ _id, programId }) => [programId, _id]).toSorted()).toEqual([
        ['one', one],
        ['other', other],
      ]);
    }
    for (const _id of ['one', 'other']) await service.deps.collections.programs.deleteOne({ _id });
  });

  it('archives and lists programs', async () => {
    expect(await run(programs, 'archive cafe nobody')).toMatchObject({
      code: 1,
      errors: ['there is no program "nobody"; nothing was changed'],
    });
    expect((await stored())[1]?.archived).toBe(false);
    expect((await run(programs, 'archive cafe')).code).toBe(0);
    expect((await stored())[1]?.archived).toBe(true);
    const { lines } = await run(programs, 'list');
    expect(lines[0]).toMatch(/^ID +MERCHANT +STYLE +SLUG +STATE +NAME$/);
    expect(lines.find((line) => line.startsWith('cafe'))).toMatch(/cafe +demo +stamps +cafe +archived +Café/);
  });

  it('change a program of the console by the id that its merchant chose, and ask which when several chose it', async () => {
    const designers = await Promise.all([merchant, await aMerchant(service)].map((one) => aDesigner(one)));
    const [first] = designers;
    const own = (await first?.create({ _id: 'winter' }))?.body.data;
    await first?.publish('winter');
    const content = { _id: 'winter', merchantId: merchant.id, name: 'Winter', goal: 60 };
    const { slug, style, fields } = own;
    const applied = await run(programs, `apply ${file('winter.json', { slug, style, fields, ...content })}`);
    expect(applied.lines[0]).toBe(`applied winter (points, slug ${slug}) of merchant ${merchant.id}`);
    expect((await first?.call('/winter'))?.body.data).toMatchObject({
      _id: 'winter',
      name: 'Winter',
      goal: 60,
      version: 2,
    });
    const other = designers[1];
    await other?.create({ _id: 'winter' });
    expect((await run(programs, 'archive winter')).code).toBe(0);
    expect((await first?.call('/winter'))?.body.data).toMatchObject({ archived: true });
    await other?.publish('winter');
    const { errors } = await run(programs, 'archive winter');
    const keys = (await stored()).map(({ _id }) => _id).filter((key) => key.endsWith('winter'));
    expect(errors).toEqual([`"winter" is one of ${keys.join(', ')}; nothing was changed`]);
    const named = keys.find((key) => !key.includes(merchant.id));
    expect((await run(programs, `archive ${named}`)).code).toBe(0);
    expect((await other?.call('/winter'))?.body.data).toMatchObject({ archived: true });
  });
});

describe('merchants, roles, keys and tokens', () => {
  it('create everything that a new merchant needs', async () => {
    expect((await run(merchants, 'create --name Corner --id corner')).lines).toEqual(['created merchant corner']);
    expect((await run(merchants, 'create --name Corner --id corner')).errors).toEqual([
      'merchant "corner" is there already: Corner',
    ]);
    expect((await run(merchants, 'list')).lines.join('\n')).toMatch(/corner +20\S+ +active +default limits +Corner/);

    const role = await run(roles, 'create --merchant corner --name till merchants.members:view merchants.members:edit');
    const roleId = /created role (\S+) of/.exec(role.lines[0] ?? '')?.[1] ?? '';
    expect((await run(roles, 'list')).lines.join('\n')).toContain(roleId);

    const key = await run(keys, `create --merchant corner --name till --role ${roleId}`);
    const [apiKey = ''] = key.lines;
    expect(apiKey).toMatch(/^lps_[\w-]{43}$/);
    const listed = await fetch(`${service.baseUrl}/merchants/me/members`, { headers: { 'X-API-Key': apiKey } });
    expect(listed.status).toBe(200);
    expect((await run(keys, 'list --merchant corner')).lines.join('\n')).toContain(apiKey.slice(0, 12));
    expect((await run(keys, 'list --merchant corner')).lines.join('\n')).not.toContain(apiKey);
    const [, keyId = ''] = /^key (\S+) of/.exec(key.lines[1] ?? '') ?? [];
    expect((await run(keys, `revoke ${keyId} --merchant demo`)).errors).toEqual([`merchant demo has no key ${keyId}`]);
    expect((await run(keys, 'revoke --merchant corner')).code).toBe(1);
    for (const _turn of [1, 2])
      expect((await run(keys, `revoke ${keyId} --merchant corner`)).lines).toEqual([
        `key ${keyId} of merchant corner is revoked`,
      ]);
    expect((await run(keys, 'list --merchant corner')).lines.join('\n')).toMatch(`${keyId}  ${apiKey.slice(0, 12)}`);
    await pastCache();
    const ended = await fetch(`${service.baseUrl}/merchants/me/members`, { headers: { 'X-API-Key': apiKey } });
    expect(ended.status).toBe(401);
    const { audit } = service.deps.collections;
    expect(await audit.countDocuments({ merchantId: 'corner', action: 'api-key.revoke', targetId: keyId })).toBe(1);

    const token = await run(tokens, 'create --merchant corner --user ada --role owner --expires 5m');
    const headers = { Authorization: `Bearer ${token.lines[0]}` };
    expect((await fetch(`${service.baseUrl}/auth/api-keys`, { headers })).status).toBe(200);
  });

  it('take a role by its id or its name in any case, and list the roles where one is unknown or has a name twice', async () => {
    const { id } = await aMerchant(service);
    const idOf = async (name: string) =>
      /created role (\S+) of/.exec(
        (await run(roles, `create --merchant ${id} --name ${name} merchants.members:view`)).lines[0] ?? '',
      )?.[1] ?? '';
    const [pos, first, second] = [await idOf('Käsetheke'), await idOf('bar'), await idOf('Bar')];
    const create = (role: string) => run(keys, `create --merchant ${id} --name till --role ${role}`);
    const rolesOfKey = async (role: string) => {
      const [key = ''] = (await create(role)).lines;
      const row = await service.deps.collections.apiKeys.findOne({ merchantId: id, keyPrefix: key.slice(0, 12) });
      return row?.roleIds;
    };
    for (const spelled of [pos, pos.toUpperCase(), 'KÄSETHEKE', 'ka\u0308setheke', `${pos} --role Käsetheke`])
      expect([spelled, await rolesOfKey(spelled)]).toEqual([spelled, [pos]]);
    expect(await rolesOfKey('Owner --role käsetheke')).toEqual(['owner', pos]);
    const sorted = [first, second].sort();
    const [one, other] = sorted.map((roleId) => `${roleId === first ? 'bar' : 'Bar'} (${roleId})`);
    expect((await create('BAR')).errors).toEqual([
      `"BAR" is the name of several roles, say which by its id: ${one}, ${other}`,
    ]);
    expect((await create('bank')).errors[0]).toMatch(
      new RegExp(`^merchant ${id} has no role "bank"; .*, Käsetheke \\(${pos}\\)`),
    );
    const elsewhere = await aMerchant(service);
    expect(await run(tokens, `create --merchant ${elsewhere.id} --user ada --role Käsetheke`)).toMatchObject({
      code: 1,
    });
  });

  it.each([
    { command: keys, line: 'create', errors: ['--merchant is required', '--name is required'] },
    { command: keys, line: 'create --merchant m --name n', errors: ['--role is required'] },
    {
      command: keys,
      line: 'create --merchant m --name n --role nobody',
      errors: ['merchant m has no role "nobody"; its roles: integration, manager, owner, till, viewer'],
    },
    {
      command: keys,
      line: 'create --merchant m --name n --role owner --expires soon',
      errors: ['--expires must be a date, as 2030-01-31'],
    },
    {
      command: tokens,
      line: 'create --merchant m --user u --role owner --expires soon',
      errors: ['--expires must be a number and s, m, h or d, as 8h'],
    },
    {
      command: merchants,
      line: 'create --name n --id no/slash',
      errors: ['--id must be 1 to 64 letters, digits, _ or -'],
    },
    { command: passes, line: 'rebuild', errors: ['name one program'] },
    { command: passes, line: 'rebuild nobody', errors: ['there is no program "nobody"'] },
    { command: outbox, line: 'drain --within soon', errors: ['--within must be a number of seconds'] },
  ])('$command.name $line is refused with a message', async ({ command, line, errors }) => {
    expect(await run(command, line)).toEqual({ code: 1, lines: [], errors });
  });

  it('a token needs the shared secret of the console', async () => {
    const line = 'create --merchant m --user u --role owner';
    expect((await run(tokens, line, { CONSOLE_JWT_SECRET: '' })).errors[0]).toMatch(/^CONSOLE_JWT_SECRET/);
    const asymmetric = await run(tokens, line, { CONSOLE_JWKS_URL: 'https://console.example/jwks' });
    expect(asymmetric.errors).toEqual(['CONSOLE_JWKS_URL is set: the console signs its tokens itself']);
  });
});

describe('readers', () => {
  it('are listed with the taps that are missing, and one is revoked at once, with an audit', async () => {
    const credential = { Authorization: `Bearer ${await merchant.token()}` };
    const made = await merchant.call('/merchants/me/readers', { body: { name: 'Terrace till' }, credential });
    const { id, pairingCode } = made.body.data;
    const paired = await merchant.call('/till/pair', { body: { code: pairingCode }, credential: null });
    const device = { Authorization: `Bearer ${paired.body.data.token}` };
    const hello = () => merchant.call('/till/hello', { body: { lastSequence: 2, waiting: 2 }, credential: device });
    expect((await hello()).status).toBe(200);
    const list = async () => (await run(readers, `list --merchant ${merchant.id}`)).lines.at(-1);
    expect(await list()).toMatch(new RegExp(`^${id} +paired +20\\S+ +0 +2 +Terrace till$`));
    expect(await run(readers, `revoke ${id}`)).toMatchObject({
      code: 0,
      lines: ['Terrace till is revoked; new requests of its device fail at once'],
    });
    expect((await hello()).status).toBe(401);
    expect(await list()).toMatch(/ revoked /);
    const entry = await service.deps.collections.audit.findOne({ action: 'reader.revoke', targetId: id });
    expect(entry).toMatchObject({ merchantId: merchant.id, actor: { type: 'operator' } });
    expect((await run(readers, `revoke ${id}`)).code).toBe(1);
    expect((await run(readers, 'revoke')).errors).toContain('name one reader');
  });
});

describe('webhooks and outbox', () => {
  it('show a failing receiver, and an empty outbox after publication', async () => {
    expect((await run(webhooks, 'failing')).lines).toEqual(['every receiver takes what it is sent']);
    const receiver = await startReceiver((_request, answer) => answer.writeHead(500).end());
    const retryPolicy = { maxAttempts: 1, backoffMs: 1_000 };
    const { body } = await merchant.call('/merchants/me/webhooks', {
      body: { url: receiver.url, events: ['*'], retryPolicy },
    });
    await merchant.enroll({ firstName: 'Ada' });
    const failing = await until(async () => {
      const { lines } = await run(webhooks, 'failing');
      return lines.find((line) => line.startsWith(body.data.id));
    });
    expect(failing).toContain(merchant.id);
    expect(failing).toContain(`127.0.0.1:${receiver.port}`);
    expect((await run(outbox, 'drain --within 20')).lines.at(-1)).toBe('the outbox is empty');
    expect((await run(outbox, 'status')).lines).toEqual(['the outbox is empty']);
    await receiver.stop();
  });

  it('show what waits while no worker runs, and stop draining at the time limit', async () => {
    await service.stopWorker();
    await merchant.enroll({ firstName: 'Grace' });
    const status = await run(outbox, 'status');
    expect(status.lines[0]).toMatch(/^1 events wait, the oldest for \d+\.\d s$/);
    const drained = await run(outbox, 'drain --within 1');
    expect(drained).toMatchObject({ code: 1, errors: ['1 events are still there after 1 s: does a worker run?'] });
    await service.startWorker();
    expect((await run(outbox, 'drain --within 30')).code).toBe(0);
  });
});
