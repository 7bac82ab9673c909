// The rules for a program's content: the rules of the program file, and rules that depend on stored data.
import type { Deps } from '../../platform/deps.js';
import type { ProgramContent } from '../../schemas/programs/programs.rows.js';
import { type Program, programFile } from '../../schemas/programs/programs.schema.js';
import { isMailOn, type MailSettings } from '../../schemas/shared/config.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import { type Mistake, mistakesOf } from '../../schemas/shared/mistakes.rules.js';
import { imagesBeyondLimit } from './imageQuota.reads.js';
import { contentOf, type ProgramAt, type ProgramHead } from './programHead.reads.js';
import { hasMembers } from './programMembers.reads.js';

export type CheckedProgram = { ok: true; program: Program } | { ok: false; mistakes: Mistake[] };

/**
 * Checks a program as a program file, template and pictures included. `merchantId` applies where the program names none.
 */
export async function checkProgram(value: unknown, merchantId: string): Promise<CheckedProgram> {
  const parsed = programFile.safeParse(value);
  if (!parsed.success) return { ok: false, mistakes: mistakesOf(programFile, parsed.error) };
  const { $schema, ...given } = parsed.data;
  const program: Program = { ...given, merchantId: given.merchantId ?? merchantId };
  // Imported on demand, because its library is large.
  const { templateProblems } = await import('../wallets/apple/templateCheck.rules.js');
  const mistakes = templateProblems(program).map(({ path, message }) => ({
    path: path.startsWith('passTemplate') ? path : `passTemplate.${path}`,
    message,
  }));
  if (mistakes.length === 0) mistakes.push(...(await damaged(program)));
  return mistakes.length > 0 ? { ok: false, mistakes } : { ok: true, program };
}

async function damaged({ passTemplate: { images } }: Program): Promise<Mistake[]> {
  if (Object.keys(images).length === 0) return [];
  const { damagedImages } = await import('../wallets/apple/scaleImages.client.js');
  const names = await damagedImages(images);
  return names.map((name) => ({ path: `passTemplate.images.${name}`, message: 'the image has damaged pixels' }));
}

/** Throws VALIDATION_FAILED listing all mistakes. */
export async function checkContent(value: object, { merchantId, programId }: ProgramAt): Promise<ProgramContent> {
  const checked = await checkProgram({ ...value, _id: programIdOf(programId) }, merchantId);
  if (!checked.ok) throw new ServiceError('VALIDATION_FAILED', checked.mistakes);
  return contentOf(checked.program);
}

/** Addresses can be confirmed only where the service sends mail. */
export function mailFindings(config: MailSettings, { enrollment }: Pick<ProgramContent, 'enrollment'>) {
  if (!enrollment.confirmEmail || isMailOn(config)) return [];
  const message = 'needs mail, which is off (SMTP_URL): nobody could join';
  return [{ path: 'enrollment.confirmEmail', severity: 'error' as const, message }];
}

/** Throws PROGRAM_IN_USE when the style of a program with members would change. */
export async function requireStyle(
  deps: Deps,
  { live, ...at }: ProgramHead,
  content: Pick<ProgramContent, 'style'>,
): Promise<void> {
  if (live && live.style !== content.style && (await hasMembers(deps, at))) throw new ServiceError('PROGRAM_IN_USE');
}

/** Throws SLUG_TAKEN. A publication checks it again. */
export async function requireFreeSlug(deps: Deps, { programId }: ProgramAt, slug: string): Promise<void> {
  const owner = await deps.collections.slugs.findOne({ _id: slug });
  if (owner && !owner.givenUpAt && owner.programId !== programId) throw new ServiceError('SLUG_TAKEN');
}

/** Throws VALIDATION_FAILED when the images, with those of the live version, exceed the limit of the merchant. */
export async function requireImageRoom(
  deps: Deps,
  { merchantId, programId: _id, live = null }: ProgramAt & { live?: Program | null },
  { passTemplate }: ProgramContent,
): Promise<void> {
  const message = await imagesBeyondLimit(deps, { merchantId, programs: [{ _id, passTemplate, live }] });
  if (message !== null) throw new ServiceError('VALIDATION_FAILED', [{ path: 'passTemplate.images', message }]);
}
