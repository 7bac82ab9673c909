// The preview of a draft (docs/interface.md#42-programs) is made by the code that builds passes and pages.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { relevantDates } from '../../../schemas/programs/openingHours.schema.js';
import { shownIn } from '../../rig/checks/phoneLanguage.js';
import { unzip } from '../../rig/checks/pkpass.js';
import { until } from '../../rig/checks/until.js';
import { type Customers, startCustomers } from '../../rig/start/customers.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import { aMerchant, outcome } from '../../rig/start/merchant.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';

let real: RealWallets;
let customers: Customers;
let designer: Designer;

beforeAll(async () => {
  real = await startRealWallets();
  customers = await startCustomers(real);
  designer = await aDesigner(real.merchant);
});
afterAll(async () => {
  await real.stop();
  await customers.stop();
});

const stamps = { slug: 'corner', name: 'Corner', style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 8 };
const preview = (program: Record<string, unknown>, member?: Record<string, unknown>) =>
  designer.call('/preview', { body: { program, ...(member && { member }) } });
const icon = (side: number) => encodePng(canvas(side, side), { paper: '#202020', ink: '#e0e0e0' }).toString('base64');

it('shows the pass that a member with the same data gets', async () => {
  const images = { icon: { '1x': icon(29), '2x': icon(58), '3x': icon(87) } };
  const program = await real.merchant.program({
    style: 'stamps',
    goal: 8,
    passTemplate: { images, logoText: 'Corner' },
  });
  const joined = await customers.join(program);
  const { members } = real.service.deps.collections;
  // A busy machine answers the enrollment before Google has the pass.
  const issued = await until(() =>
    members.findOne({ _id: joined.member._id, 'pass.googleSaveUrl': { $exists: true } }),
  );
  await real.customer.save(issued.pass.googleSaveUrl ?? '');
  await until(async () => (await members.findOne({ _id: joined.member._id }))?.pass.googleSaved);
  await customers.points(joined, { delta: 1 });
  const bytes = Buffer.from(await (await fetch(joined.appleUrl ?? '')).arrayBuffer());
  const files = unzip(bytes);
  const json = shownIn({ json: JSON.parse(String(files.get('pass.json'))), files });
  const { memberCode } = joined.member;
  const { merchantId, _id, archived, ...fields } = program;
  const { body } = await preview(
    { ...fields, _id: program._id },
    { firstName: 'Ada', lastName: 'x', memberCode, balance: 1 },
  );
  expect(body.data.findings).toEqual([]);
  const withoutPerson = ({ serialNumber, authenticationToken, storeCard, ...rest }: Record<string, unknown>) => rest;
  expect(withoutPerson(body.data.apple)).toEqual(withoutPerson({ ...json }));
  expect(body.data.apple.storeCard.headerFields).toEqual(json.storeCard.headerFields);
  const pictures = [...files].filter(([name]) => name.endsWith('.png'));
  expect(pictures.length).toBeGreaterThan(3);
  expect(body.data.appleImages).toEqual(
    Object.fromEntries(pictures.map(([name, file]) => [name, file.toString('base64')])),
  );
  const { issuerId } = real.google;
  const shown = real.google.rules.objects.get(`${issuerId}.member-${joined.member._id}`);
  expect(body.data.google.object.loyaltyPoints).toEqual(shown?.loyaltyPoints);
  expect(body.data.google.class).toMatchObject({ id: `${issuerId}.program-${_id}`, programName: 'Test program' });
  const page = await (await fetch(`${real.service.publicUrl}/enroll/${program.slug}`)).text();
  const withoutPictures = (text: string) => text.replaceAll(/(?:href|src)="(?:data:|\/wallet)[^"]*"/g, '');
  expect(withoutPictures(body.data.publicPage)).toBe(withoutPictures(page));
});

describe('those who may only look', () => {
  it('see the live version of a program', async () => {
    const program = await real.merchant.program({ name: 'Looked at' });
    const viewer = await aDesigner(real.merchant, ['viewer']);
    await designer.edit(program._id, { name: 'Not yet' });
    const { merchantId, _id, archived, ...fields } = program;
    const { body } = await viewer.call(`/${_id}/preview`);
    const edited = (await preview({ _id, ...fields })).body.data;
    expect(body.data.apple).toMatchObject({ organizationName: 'Looked at', logoText: edited.apple.logoText });
    expect([body.data.publicPage, body.data.google.class]).toEqual([edited.publicPage, edited.google.class]);
    expect(body.data.findings).toEqual(edited.findings);
    expect(outcome(await viewer.call('/preview', { body: { program: stamps } }))).toEqual([403, 'PERMISSION_DENIED']);
    const draft = (await designer.create()).body.data;
    const stranger = await aDesigner(await aMerchant(real.service), ['viewer']);
    for (const [by, id] of [
      [viewer, draft._id],
      [stranger, _id],
    ] as const)
      expect(outcome(await by.call(`/${id}/preview`))).toEqual([404, 'PROGRAM_NOT_FOUND']);
    expect(outcome(await real.merchant.call(`/merchants/me/programs/${_id}/preview`))).toEqual([
      403,
      'CONSOLE_SESSION_REQUIRED',
    ]);
  });

  it('see the pass of a member, without its secrets', async () => {
    const program = await real.merchant.program({ style: 'stamps', goal: 8 });
    const joined = await customers.join(program);
    await customers.points(joined, { delta: 1, changeMessage: 'Well done' });
    const files = unzip(Buffer.from(await (await fetch(joined.appleUrl ?? '')).arrayBuffer()));
    const json = shownIn({ json: JSON.parse(String(files.get('pass.json'))), files });
    const path = `/merchants/me/members/${joined.member._id}/preview`;
    const viewer = { Authorization: `Bearer ${await real.merchant.token({ roleIds: ['viewer'] })}` };
    const { body, text } = await real.merchant.call(path, { credential: viewer });
    const { serialNumber, authenticationToken, ...shown } = json;
    expect(body.data.apple).toMatchObject(shown);
    expect(body.data.google.object.accountId ?? joined.member.memberCode).toBe(joined.member.memberCode);
    for (const secret of [serialNumber, authenticationToken]) expect(text).not.toContain(secret);
    const stranger = {
      Authorization: `Bearer ${await (await aMerchant(real.service)).token({ roleIds: ['viewer'] })}`,
    };
    expect(outcome(await real.merchant.call(path, { credential: stranger }))).toEqual([404, 'MEMBER_NOT_FOUND']);
    expect(outcome(await real.merchant.call(path))).toEqual([403, 'CONSOLE_SESSION_REQUIRED']);
  });
});

describe('a draft', () => {
  it('is shown with a sample member unless one is given, and nothing is stored', async () => {
    const { programs, programDrafts, members } = real.service.deps.collections;
    const counted = () =>
      Promise.all(
        [programs, programDrafts, members].map((rows) => rows.countDocuments({ merchantId: real.merchant.id })),
      );
    const before = await counted();
    const { status, body } = await preview(stamps);
    expect(status).toBe(200);
    expect(JSON.stringify(body.data.apple)).toContain('Ada Lovelace');
    expect(body.data.publicPage).toContain('Join Corner');
    const member = { firstName: 'Grace', lastName: 'Hopper', balance: 8, status: 'voided', changeMessage: 'Full!' };
    const full = (await preview(stamps, member)).body.data;
    expect(full.apple).toMatchObject({ voided: true });
    expect(JSON.stringify(full.apple)).toMatch(/Ready.*Grace Hopper.*Full!/);
    expect(full.google.object).toMatchObject({ state: 'INACTIVE', accountName: 'Grace Hopper' });
    expect(await counted()).toEqual(before);
  });

  it('may be a program file of the merchant', async () => {
    const file = { $schema: '../program.schema.json', _id: 'corner', ...stamps, archived: false };
    const own = await preview({ ...file, merchantId: real.merchant.id });
    expect(own.body.data).toMatchObject({ apple: expect.any(Object), findings: [] });
    const foreign = await preview({ ...file, merchantId: 'another' });
    expect(foreign.body.data.findings).toEqual([{ path: 'merchantId', severity: 'error', message: 'is not yours' }]);
  });

  it('shows the tier that the sample member would have', async () => {
    const tiers = [
      { name: 'Bronze', threshold: 0 },
      { name: 'Silver', threshold: 50 },
    ];
    const { body } = await preview({ ...stamps, style: 'tiered', tiers }, { balance: 60, lifetimePoints: 60 });
    expect(JSON.stringify(body.data.apple.storeCard.primaryFields)).toContain('Silver');
  });

  it('with mistakes gets findings with their paths, and no pictures', async () => {
    const { status, body } = await preview({
      ...stamps,
      goal: 0,
      golas: 1,
      passTemplate: { colors: { label: 'red' } },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ apple: null, appleImages: null, google: null, publicPage: null });
    const found = body.data.findings as { path: string; severity: string; message: string }[];
    expect(found.map(({ path, severity }) => [path, severity])).toEqual([
      ['goal', 'error'],
      ['passTemplate.colors.label', 'error'],
      ['golas', 'error'],
    ]);
    expect(found[2]?.message).toBe('is not a known field; did you mean goal?');
  });

  it('without a slug is shown, and the slug is a finding', async () => {
    const { slug, ...rest } = stamps;
    const { body } = await preview(rest);
    expect(body.data.apple).not.toBeNull();
    expect(body.data.findings).toMatchObject([{ path: 'slug', severity: 'error' }]);
  });

  it.each(['slug', 'enrollment.privacyUrl'])('with a wrong %s is shown, and it is a finding', async (path) => {
    const wrong =
      path === 'slug' ? { slug: 'Not an address' } : { enrollment: { privacyUrl: 'http://example.com/privacy' } };
    const { body } = await preview({ ...stamps, ...wrong });
    expect(body.data.apple).not.toBeNull();
    expect(body.data.findings).toMatchObject([{ path, severity: 'error' }]);
  });

  it('gets warnings for content that is hard to read, cut off, taken or closed', async () => {
    const theirs = await (await aMerchant(real.service)).program();
    const { body } = await preview({
      ...stamps,
      slug: theirs.slug,
      enrollment: { open: false },
      passTemplate: { organizationName: 'A very long name of a company', colors: { background: '#ffffff' } },
    });
    expect(
      body.data.findings.map(({ path, severity }: { path: string; severity: string }) => `${severity} ${path}`),
    ).toEqual([
      'error slug',
      'warning passTemplate.colors.foreground',
      'warning passTemplate.colors.label',
      'warning passTemplate.organizationName',
      'warning enrollment.open',
    ]);
    expect(body.data.apple).not.toBeNull();
  });

  it('says what opening hours do without places or a time zone, and that Google has none', async () => {
    const openingHours = { monday: '09:00-18:00' };
    const locations = [{ latitude: 52, longitude: 13 }];
    const said = async (template: object, fields: object = {}) => {
      const { findings, apple } = (await preview({ ...stamps, ...fields, passTemplate: template })).body.data;
      return [findings.map(({ message }: { message: string }) => message), apple.relevantDates?.length];
    };
    const none = 'Google has none: it offers the card at its places at any time';
    expect(await said({ openingHours, locations }, { timeZone: 'Europe/Berlin' })).toEqual([
      [none],
      relevantDates(openingHours, 'Europe/Berlin').length,
    ]);
    expect(await said({ openingHours })).toEqual([
      [none, 'iPhones use them only for a card with places', 'are read in UTC: the program has no time zone'],
      undefined,
    ]);
  });

  it.each([
    ['program', {}],
    ['program', { program: 'text' }],
    ['member.pionts', { program: stamps, member: { pionts: 3 } }],
    ['member.balance', { program: stamps, member: { balance: -1 } }],
  ])('is refused for a mistake in %s of the request', async (path, body) => {
    const answer = await designer.call('/preview', { body });
    expect(outcome(answer)).toEqual([400, 'VALIDATION_FAILED']);
    expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });
});
