// A preview of a program on both phones and on its public page, made by the code that builds the real passes, objects
// and pages. Nothing is stored.
import type { z } from 'zod';
import { newMemberRows } from '../../activities/members/newMember.rules.js';
import { checkProgram, mailFindings, requireFreeSlug } from '../../activities/programs/checkContent.rules.js';
import { programKeyOf, readProgram } from '../../activities/programs/program.reads.js';
import type { ProgramAt } from '../../activities/programs/programHead.reads.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { tierOf } from '../../schemas/points/balance.rules.js';
import { contrastOf } from '../../schemas/programs/contrast.rules.js';
import { imageWarnings } from '../../schemas/programs/imageSlots.rules.js';
import { largestOf } from '../../schemas/programs/passTemplate.schema.js';
import type {
  finding,
  memberPreview,
  programPreview,
  SampleMember,
} from '../../schemas/programs/programEdits.schema.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { isMailOn } from '../../schemas/shared/config.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { languageOf } from '../../schemas/shared/languages/index.js';
import { passStrings, shownBy } from '../../schemas/wallets/apple/passStrings.rules.js';
import { loyaltyClassOf, loyaltyObjectOf } from '../../schemas/wallets/google/pass.view.js';
import { applePassView, googlePassView, googleProgramView } from '../../schemas/wallets/passes.view.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { type MemberAt, readMember } from '../members/members.reads.js';
import { enrollPage } from './enrollForm.view.js';
import { type Page, pageHtml } from './layout.view.js';
import { wordsOf } from './words.view.js';

type Finding = z.input<typeof finding>;
type Preview = z.input<typeof programPreview>;
type Card = z.input<typeof memberPreview>;

interface PreviewProgram {
  merchantId: string;
  program: Record<string, unknown>;
  member: SampleMember | undefined;
}

/** Placeholders for what a draft does not have yet. */
const unsaved = { _id: 'preview', slug: 'preview' };
/** Placeholders for credentials that are not set, in a form that each wallet accepts. */
const anyApple = { passTypeId: 'pass.com.example.loyalty', teamId: 'TEAM123456' };
const anyIssuer = '3388000000000000000';

export async function previewProgram(
  deps: ApiDeps,
  { merchantId, program: { version, liveVersion, ...given }, member }: PreviewProgram,
): Promise<Preview> {
  const asGiven = await checkProgram({ _id: unsaved._id, ...given, merchantId }, merchantId);
  const mistakes = asGiven.ok ? [] : asGiven.mistakes;
  const foreign = given.merchantId !== undefined && given.merchantId !== merchantId;
  const errors = [...mistakes, ...(foreign ? [{ path: 'merchantId', message: 'is not yours' }] : [])].map(
    (mistake): Finding => ({ ...mistake, severity: 'error' }),
  );
  const complete = asGiven.ok
    ? asGiven
    : await checkProgram({ ...unsaved, ...without(given, mistakes), merchantId }, merchantId);
  if (!complete.ok) return { apple: null, appleImages: null, google: null, publicPage: null, findings: errors };
  const program = {
    ...complete.program,
    _id: await programKeyOf(deps, { merchantId, programId: complete.program._id }),
  };
  const found = [...(await slugTaken(deps, program)), ...mailFindings(deps.config, program)];
  const findings = [...errors, ...found, ...warnings(program)];
  return { ...(await shownOf(deps, program, sampleOf(deps, program, member))), findings };
}

/** The draft without its wrong values, so that a wrong address does not hide the card. */
function without(given: Record<string, unknown>, mistakes: readonly Pick<Finding, 'path'>[]): Record<string, unknown> {
  const left = structuredClone(given);
  for (const { path } of mistakes) {
    const parts = path.split('.');
    const last = parts.pop() ?? '';
    const within = parts.reduce<unknown>((value, part) => (isRecord(value) ? value[part] : undefined), left);
    if (isRecord(within)) delete within[last];
  }
  return left;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The live version with a sample member. Throws PROGRAM_NOT_FOUND. */
export async function previewLive(deps: ApiDeps, at: ProgramAt): Promise<Preview> {
  const program = await readProgram(deps, at);
  return { ...(await shownOf(deps, program, sampleOf(deps, program))), findings: warnings(program) };
}

/** Throws MEMBER_NOT_FOUND. */
export async function previewMember(deps: ApiDeps, at: MemberAt): Promise<Card> {
  const row = await readMember(deps, at);
  const program = await readProgram(deps, row);
  const { serialNumber, pass } = sampleOf(deps, program);
  const { token, authenticationToken } = pass;
  // What opens the pass stays out of its picture.
  return cardOf(deps, program, { ...row, serialNumber, pass: { ...row.pass, token, authenticationToken } });
}

const cardOf = async (deps: ApiDeps, program: Program, member: MemberRow): Promise<Card> => ({
  ...(await appleOf(deps, program, member)),
  google: googleOf(deps, program, member),
});

const shownOf = async (deps: ApiDeps, program: Program, sample: MemberRow): Promise<Omit<Preview, 'findings'>> => ({
  ...(await cardOf(deps, program, sample)),
  publicPage: pageHtml(deps, publicPageOf(deps, program)).text,
});

async function slugTaken(deps: ApiDeps, { _id: programId, merchantId, slug }: Program): Promise<Finding[]> {
  try {
    await requireFreeSlug(deps, { merchantId, programId }, slug);
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [{ path: 'slug', severity: 'error', message: error.message }];
  }
}

function sampleOf(deps: ApiDeps, program: Program, given: SampleMember = {}): MemberRow {
  const { goal = 100, tiers } = program;
  const { balance = tiers?.at(-1)?.threshold ?? Math.ceil(goal / 2), changeMessage, ...rest } = given;
  const { member } = newMemberRows(deps, {
    program,
    person: { firstName: 'Ada', lastName: 'Lovelace', externalId: '4001234567890', initialPoints: balance },
    source: 'console',
    attribution: {},
    actor: { type: 'user', id: 'preview' },
  });
  const defined = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const sample: MemberRow = { ...member, ...defined };
  const tier = tierOf(program, sample.balance, sample.lifetimePoints);
  const message = changeMessage && { pass: { ...sample.pass, message: changeMessage, messageSequence: 1 } };
  return { ...sample, ...(tier !== undefined && { tier }), ...message };
}

async function appleOf(
  deps: ApiDeps,
  program: Program,
  member: MemberRow,
): Promise<Pick<Card, 'apple' | 'appleImages'>> {
  const [{ passContent }, { compileScaled }] = await Promise.all([
    import('../../activities/wallets/apple/passPackage.view.js'),
    import('../../activities/wallets/apple/compileScaled.client.js'),
  ]);
  const compiled = await compileScaled(deps.wallets.apple?.credentials ?? anyApple, program);
  const { json, files } = passContent(compiled, applePassView(deps.config, { member, program }));
  // As a phone in the program's language shows it.
  const strings = passStrings(program, program.passTemplate).get(languageOf(program));
  return {
    apple: shownBy(strings, json),
    appleImages: Object.fromEntries(
      [...files].filter(([name]) => name.endsWith('.png')).map(([name, bytes]) => [name, bytes.toString('base64')]),
    ),
  };
}

function googleOf(deps: ApiDeps, program: Program, member: MemberRow): Card['google'] {
  const issuerId = deps.wallets.google?.credentials.issuerId ?? anyIssuer;
  return {
    class: { ...loyaltyClassOf(issuerId, googleProgramView(deps.config, program)) },
    object: { ...loyaltyObjectOf(issuerId, googlePassView({ member, program })) },
  };
}

function publicPageOf({ config }: ApiDeps, program: Program): Page {
  const words = wordsOf(languageOf(program), program);
  return enrollPage({ program, words, logoUrl: logoOf(program), mails: isMailOn(config) });
}

/** The pictures of a draft have no URL yet. */
function logoOf({ passTemplate: { images } }: Program): string | undefined {
  const base64 = largestOf(images.logo ?? images.icon);
  return base64 === undefined ? undefined : `data:image/png;base64,${base64}`;
}

/** A lower contrast is hard to read on a phone: WCAG's minimum for large text. */
const minContrast = 3;
/** Google truncates longer names. */
const maxIssuerName = 20;

function warnings({ name, enrollment, passTemplate, timeZone }: Program): Finding[] {
  const found: Finding[] = [];
  const warn = (path: string, message: string) => found.push({ path, severity: 'warning', message });
  const { background, ...inks } = passTemplate.colors;
  for (const [ink, hex] of Object.entries(inks)) {
    const contrast = contrastOf(background, hex);
    if (contrast < minContrast)
      warn(
        `passTemplate.colors.${ink}`,
        `has a contrast of ${contrast.toFixed(1)} to the background; ${minContrast} is needed`,
      );
  }
  const issuer = passTemplate.organizationName;
  if ((issuer ?? name).length > maxIssuerName)
    warn(
      issuer === undefined ? 'name' : 'passTemplate.organizationName',
      `Google shows ${maxIssuerName} characters of it`,
    );
  const { barcode, barcodeFormat = 'QR' } = passTemplate;
  if (barcode === 'externalId' && barcodeFormat === 'I2of5')
    warn('passTemplate.barcodeFormat', 'Google shows it for 14 digits with a check digit (ITF-14), others as QR');
  for (const { path, message } of imageWarnings(passTemplate.images)) warn(path, message);
  if (passTemplate.openingHours) {
    const path = 'passTemplate.openingHours';
    warn(path, 'Google has none: it offers the card at its places at any time');
    if (passTemplate.locations.length === 0) warn(path, 'iPhones use them only for a card with places');
    if (timeZone === undefined) warn(path, 'are read in UTC: the program has no time zone');
  }
  if (!enrollment.open) warn('enrollment.open', 'the public page is closed, so that nobody can join there');
  return found;
}
