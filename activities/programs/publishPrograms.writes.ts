// Publications. One transaction makes the newest edit of a program its live version and writes what follows from it:
// its slug, its kept versions, the update of its class at Google, and the batch that pushes the passes in use. A
// process that dies after the commit leaves a batch without a workflow, which `reviveBatches` starts.
import { isDeepStrictEqual } from 'node:util';
import type { Deps } from '../../platform/deps.js';
import { noteChange } from '../../platform/mongodb/audit.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert, insertIfAbsent, remove, update } from '../../platform/mongodb/statements.js';
import { transactAlone } from '../../platform/mongodb/transact.js';
import type { Statement, Transaction } from '../../platform/mongodb/transaction.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import { changesBetween } from '../../schemas/access/auditChanges.rules.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { newRebuild } from '../../schemas/batches/newBatch.rules.js';
import { programContentFields } from '../../schemas/programs/programEdits.schema.js';
import { type ProgramContent, type ProgramVersionRow, programVersionId } from '../../schemas/programs/programs.rows.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import { batchRoom } from '../access/batchRoom.writes.js';
import { mailFindings, requireStyle } from './checkContent.rules.js';
import { withExpiry } from './expirySince.writes.js';
import { imageBytesOf, versionsBeyondLimit } from './imageQuota.reads.js';
import { refuseErrors, requireExpiration } from './passExpiration.rules.js';
import { forgetProgram } from './program.reads.js';
import { contentOf, type ProgramAt, type ProgramHead, readHead, requireVersion } from './programHead.reads.js';
import { hasMembers } from './programMembers.reads.js';

export interface Publication {
  /** The program as it was read; nothing is published when it has changed since. */
  head: ProgramHead;
  content: ProgramContent;
  /** The live content when only `archived` may differ. */
  version: number;
  archived: boolean;
}

export interface Published {
  program: Program;
  /** The batch that pushes the passes in use; null when no pass changes. */
  rebuild: BatchRow | null;
}

/**
 * Publishes the newest edit. `rebuild` is null when nothing differs from the live version. Throws PROGRAM_NOT_FOUND,
 * VERSION_CONFLICT, PROGRAM_IN_USE, SLUG_TAKEN, VALIDATION_FAILED for an
 * expiration date that has passed and for addresses to confirm without mail, and RATE_LIMITED at the merchant's limit
 * of unfinished batches.
 */
export function publishProgram(
  deps: Deps,
  { actor, version, ...at }: ProgramAt & { actor: Actor; version: number | undefined },
): Promise<Published> {
  return retryOnConflict(deps, async () => {
    const head = await readHead(deps, at);
    requireVersion(head, version);
    if (head.live && !head.draft?.content) return { program: head.live, rebuild: null };
    await requireStyle(deps, head, head.content);
    refuseErrors(mailFindings(deps.config, head.content));
    if (head.live) noteChange(deps, contentOf(head.live), head.content);
    const publication = { head, content: head.content, version: head.version, archived: head.archived };
    const [published] = await commitPublications(deps, { publications: [publication], actor, isLimited: true });
    return published ?? { program: publishedOf(publication), rebuild: null };
  });
}

interface CommitPublications {
  publications: readonly Publication[];
  actor: Actor;
  /** Whether the merchant's limit of unfinished batches applies. */
  isLimited: boolean;
}

/**
 * Commits all publications or none. Returns those that created a new version. Throws SLUG_TAKEN, VALIDATION_FAILED,
 * VersionConflict, RATE_LIMITED.
 */
export async function commitPublications(
  deps: Deps,
  { publications, actor, isLimited }: CommitPublications,
): Promise<Published[]> {
  const all: Transaction = await slugWrites(deps, publications);
  const add = ({ statements, expectedMatches }: Transaction) => {
    all.statements.push(...statements);
    all.expectedMatches += expectedMatches;
  };
  const published: Published[] = [];
  for (const publication of publications) {
    const { head } = publication;
    const { merchantId, programId } = head;
    const program = publishedOf(publication);
    add(programWrites(deps, publication));
    if (head.live && versionOf(head.live) === publication.version) continue;
    requireExpiration({ live: head.live, next: publication.content, now: deps.now() });
    add(draftWrites(deps, publication, actor));
    add(await versionWrites(deps, publication, actor));
    const changed = head.live !== null && changesPasses(head.live, publication.content);
    const isShown = changed && (await hasMembers(deps, head));
    const rebuild = isShown ? newRebuild(deps, { merchantId, programId, startedBy: actor }) : null;
    if (rebuild) {
      if (isLimited) add(await batchRoom(deps, head));
      add({ statements: [insert(deps, 'batches', rebuild)], expectedMatches: 0 });
    }
    published.push({ program, rebuild });
  }
  await transactAlone(deps, all.statements, all.expectedMatches);
  for (const publication of publications) {
    forgetProgram(deps, publication.head, publication.content.slug);
    // A new rule applies from now on.
    await withExpiry(deps, publishedOf(publication));
  }
  return published;
}

const publishedOf = ({ head, content, version, archived }: Publication): Program => ({
  _id: head.programId,
  merchantId: head.merchantId,
  ...content,
  archived,
  version,
});

/** Whether a pass of the program may look different with the new content. */
export function changesPasses(live: Program, content: ProgramContent): boolean {
  const shown = ({ slug, enrollment, ...rest }: ProgramContent) => rest;
  return !isDeepStrictEqual(shown(content), shown(contentOf(live)));
}

/** `archived` is written only when it changes, because it also changes without a publication. */
function programWrites(deps: Deps, publication: Publication): Transaction {
  const { head, content, version, archived } = publication;
  const { live, programId: _id, merchantId } = head;
  const follow = update(deps, 'classUpdates', { _id }, { $set: { merchantId, revision: newId() } }, true);
  if (!live) return { statements: [insert(deps, 'programs', publishedOf(publication)), follow], expectedMatches: 1 };
  const given = new Set(Object.keys(content));
  const absent = programContentFields.filter((name) => !given.has(name));
  const change = {
    $set: { ...content, version, ...(archived !== live.archived && { archived }) },
    ...(absent.length > 0 && { $unset: Object.fromEntries(absent.map((name) => [name, ''])) }),
  };
  const asRead = live.version ?? { $exists: false };
  const withoutRule = live.expiry && !content.expiry ? [remove(deps, 'expiries', { _id })] : [];
  return {
    statements: [update(deps, 'programs', { _id, merchantId, version: asRead }, change), follow, ...withoutRule],
    expectedMatches: 2,
  };
}

/** Marks the edit as published. The row stays, because its version is that of the newest edit. */
function draftWrites(deps: Deps, { head, version, content }: Publication, updatedBy: Actor): Transaction {
  const { draft, merchantId, programId: _id } = head;
  const updatedAt = deps.now();
  const set = { version, imageBytes: imageBytesOf(content), published: true as const, updatedAt, updatedBy };
  if (!draft)
    return {
      statements: [insert(deps, 'programDrafts', { _id, merchantId, createdAt: updatedAt, ...set })],
      expectedMatches: 0,
    };
  const filter = { _id, merchantId, version: draft.version };
  const change = { $set: set, $unset: { content: '', archived: '' } };
  return { statements: [update(deps, 'programDrafts', filter, change)], expectedMatches: 1 };
}

/** Stores the new version, and the live one unless it is stored, and removes the oldest and those beyond the limit. */
async function versionWrites(
  deps: Deps,
  { head, content, version }: Publication,
  publishedBy: Actor,
): Promise<Transaction> {
  const { live, merchantId, programId } = head;
  const rowOf = (of: number, its: ProgramContent): ProgramVersionRow & { _id: string } => ({
    _id: programVersionId(programId, of),
    merchantId,
    programId,
    version: of,
    content: its,
    imageBytes: imageBytesOf(its),
  });
  const oldest = await deps.collections.programVersions
    .find({ programId }, { projection: { _id: 1 } })
    .sort({ version: -1 })
    .skip(deps.config.PROGRAM_KEPT_VERSIONS - 1)
    .toArray();
  const beyond = await versionsBeyondLimit(deps, { merchantId, programId, content, live });
  const gone = [...new Set([...oldest.map(({ _id }) => _id), ...beyond])];
  return {
    statements: [
      ...(live ? [insertIfAbsent(deps, 'programVersions', rowOf(versionOf(live), contentOf(live)))] : []),
      insert(deps, 'programVersions', {
        ...rowOf(version, content),
        ...{ publishedAt: deps.now(), publishedBy },
        ...(live && { changes: changesBetween('program.publish', contentOf(live), content) }),
      }),
      ...(gone.length > 0 ? [remove(deps, 'programVersions', { _id: { $in: gone } })] : []),
    ],
    expectedMatches: live ? 1 : 0,
  };
}

interface Wanted {
  head: ProgramHead;
  content: { slug: string };
}

/**
 * The statements that assign each program its slug, and the number of documents that their updates must match. Programs
 * of one call may swap slugs; a slug that is given up goes on leading to its program. Throws SLUG_TAKEN.
 */
async function slugWrites(deps: Deps, wanted: readonly Wanted[]): Promise<Transaction> {
  const taken = new Map(wanted.map(({ head, content }) => [content.slug, head]));
  const rows = await deps.collections.slugs.find({ _id: { $in: [...taken.keys()] } }).toArray();
  const owners = new Map(rows.map((row) => [row._id, row]));
  const givenUp = new Map(
    wanted.flatMap(({ head: { live }, content }) =>
      live && live.slug !== content.slug ? [[live.slug, live._id] as const] : [],
    ),
  );
  const statements: Statement[] = [];
  let expectedMatches = 0;
  const move = (asRead: Record<string, unknown>, change: Record<string, object>) => {
    statements.push(update(deps, 'slugs', asRead, change));
    expectedMatches += 1;
  };
  for (const [slug, programId] of givenUp) {
    if (!taken.has(slug)) move({ _id: slug, programId }, { $set: { givenUpAt: deps.now() } });
  }
  for (const [slug, { merchantId, programId }] of taken) {
    const owner = owners.get(slug);
    if (owner?.programId === programId && !owner.givenUpAt) continue;
    if (owner === undefined) {
      statements.push(insert(deps, 'slugs', { _id: slug, merchantId, programId }));
      continue;
    }
    if (!owner.givenUpAt && !givenUp.has(slug)) throw new ServiceError('SLUG_TAKEN');
    const { programId: before, givenUpAt } = owner;
    // Its program may take a slug back that was read as given up.
    const asRead = { _id: slug, programId: before, ...(givenUpAt && { givenUpAt }) };
    move(asRead, { $set: { merchantId, programId }, $unset: { givenUpAt: '' } });
  }
  return { statements, expectedMatches };
}
