// Drafts: a new program, and the draft of the next version of a program. Live programs do not change here.
import { isDeepStrictEqual } from 'node:util';
import type { Deps } from '../../platform/deps.js';
import { noteChange } from '../../platform/mongodb/audit.js';
import { changeOne } from '../../platform/mongodb/changeOne.js';
import { insertWithQuota } from '../../platform/mongodb/insertWithQuota.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, update } from '../../platform/mongodb/statements.js';
import { transactAlone } from '../../platform/mongodb/transact.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import { type Json, mergePatch } from '../../schemas/programs/mergePatch.rules.js';
import type { ProgramDraftRow } from '../../schemas/programs/programs.rows.js';
import { programStyle } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { chosenProgramKey, newId, programIdOf } from '../../schemas/shared/ids.js';
import { limitOf } from '../access/merchants.reads.js';
import { checkContent, requireFreeSlug, requireImageRoom, requireStyle } from './checkContent.rules.js';
import { imageBytesOf } from './imageQuota.reads.js';
import { findProgramKey, forgetProgram } from './program.reads.js';
import { headOf, type ProgramAt, type ProgramHead, readHead, requireVersion } from './programHead.reads.js';

/** Throws VALIDATION_FAILED, SLUG_TAKEN, PROGRAM_EXISTS, PROGRAM_LIMIT_REACHED. */
export async function createProgram(
  deps: Deps,
  { merchantId, actor, program }: { merchantId: string; actor: Actor; program: Json & { _id?: string | undefined } },
): Promise<ProgramHead> {
  const { _id: chosen } = program;
  const at = { merchantId, programId: chosen === undefined ? newId() : chosenProgramKey(merchantId, chosen) };
  const content = await checkContent(contentChanges(program, { ...at, archived: false }), at);
  await requireFreeSlug(deps, at, content.slug);
  await requireImageRoom(deps, at, content);
  const now = deps.now();
  const row: ProgramDraftRow = {
    _id: at.programId,
    merchantId,
    version: 1,
    content,
    imageBytes: imageBytesOf(content),
    createdAt: now,
    updatedAt: now,
    updatedBy: actor,
  };
  const { programs, programDrafts } = deps.collections;
  const quota = await limitOf(deps, { merchantId, limit: 'programs' });
  await insertWithQuota(deps, {
    merchantId,
    owner: `programs:${merchantId}`,
    async countHeld() {
      const [live, drafts] = await Promise.all([
        programs.countDocuments({ merchantId }, { limit: Math.max(quota, 1) }),
        programDrafts.countDocuments({ merchantId, published: { $exists: false } }, { limit: Math.max(quota, 1) }),
      ]);
      return live + drafts;
    },
    quota,
    refusal: new ServiceError('PROGRAM_LIMIT_REACHED'),
    name: 'programDrafts',
    async rows() {
      if (chosen !== undefined && (await findProgramKey(deps, { merchantId, programId: chosen })) !== undefined)
        throw new ServiceError('PROGRAM_EXISTS');
      return [row];
    },
  });
  return { ...at, live: null, draft: row, version: 1, content, archived: false };
}

type Fixed = Pick<ProgramHead, 'programId' | 'merchantId' | 'archived'>;

/** What was sent but for what no edit changes. Throws VALIDATION_FAILED where that says something else. */
function contentChanges({ $schema, _id, merchantId, archived, liveVersion, ...changes }: Json, fixed: Fixed): Json {
  const pairs = {
    _id: [_id, programIdOf(fixed.programId)],
    merchantId: [merchantId, fixed.merchantId],
    archived: [archived, fixed.archived],
  };
  const mistakes = Object.entries(pairs)
    .filter(([, [given, is]]) => given !== undefined && given !== is)
    .map(([path]) => ({ path, message: 'cannot be changed here' }));
  if (mistakes.length > 0) throw new ServiceError('VALIDATION_FAILED', mistakes);
  return changes;
}

interface EditProgram extends ProgramAt {
  actor: Actor;
  /** The version that the caller has read; without it, the newest edit is changed. */
  version: number | undefined;
  patch: Json;
}

/**
 * Throws PROGRAM_NOT_FOUND, VERSION_CONFLICT, VALIDATION_FAILED, PROGRAM_IN_USE, SLUG_TAKEN. An edit without a change
 * keeps the version.
 */
export function editProgram(deps: Deps, { actor, version, patch, ...at }: EditProgram): Promise<ProgramHead> {
  return retryOnConflict(deps, async () => {
    const head = await readHead(deps, at);
    requireVersion(head, version);
    // Checked first, because the other content may not fit another style.
    const style = programStyle.safeParse(patch.style);
    if (style.success) await requireStyle(deps, head, { style: style.data });
    const { expiry, ...others } = head.content;
    // A given rule replaces the old one whole, because its forms exclude each other.
    const before = patch.expiry === undefined ? head.content : others;
    const content = await checkContent(mergePatch(before, contentChanges(patch, head)), at);
    await requireFreeSlug(deps, at, content.slug);
    if (isDeepStrictEqual(content, head.content)) return head;
    await requireImageRoom(deps, head, content);
    noteChange(deps, head.content, content);
    const now = deps.now();
    const set = {
      version: head.version + 1,
      content,
      imageBytes: imageBytesOf(content, head.live),
      updatedAt: now,
      updatedBy: actor,
    };
    const where = { _id: at.programId, merchantId: at.merchantId };
    const asRead = { ...where, version: head.version };
    if (head.draft) await transactAlone(deps, [update(deps, 'programDrafts', asRead, { $set: set })], 1);
    else
      await transactAlone(
        deps,
        [insert(deps, 'programDrafts', { ...where, ...set, published: true, createdAt: now })],
        0,
      );
    const draft = { ...where, createdAt: now, ...head.draft, ...set };
    return headOf(at, head.live, draft) ?? head;
  });
}

/** Closes a program to new members, or opens it again, at once. Throws PROGRAM_NOT_FOUND. */
export async function setArchived(
  deps: Deps,
  { archived, ...at }: ProgramAt & { archived: boolean },
): Promise<ProgramHead> {
  const open = { _id: at.programId, merchantId: at.merchantId, archived: archived ? { $ne: true } : true };
  // The version protects the change from a concurrent publication.
  if (!(await changeOne(deps, 'programs', open, { $set: { archived } })))
    await changeOne(
      deps,
      'programDrafts',
      { ...open, published: { $exists: false } },
      { $set: { archived }, $inc: { version: 1 } },
    );
  const head = await readHead(deps, at);
  forgetProgram(deps, head, head.content.slug);
  return head;
}
