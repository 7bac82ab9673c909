// The limit of the images of a merchant's programs. The newest edit and the live version of each program count, an
// image of both once. Older versions are kept as long as their images fit within the limit, too.
import type { Deps } from '../../platform/deps.js';
import { merchantLimits } from '../../schemas/access/merchantLimits.schema.js';
import { type ProgramContent, programVersionId } from '../../schemas/programs/programs.rows.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { limitOf } from '../access/merchants.reads.js';
import type { ProgramAt } from './programHead.reads.js';

type Templated = Pick<Program, 'passTemplate'>;

/** Bytes of the different images, decoded from base64. */
export function imageBytesOf(...templated: readonly (Templated | null)[]): number {
  const pictures = templated
    .flatMap((one) => Object.values(one?.passTemplate.images ?? {}))
    .flatMap((picture) => (typeof picture === 'string' ? [picture] : Object.values(picture ?? {})));
  return [...new Set(pictures)].reduce((sum, base64) => sum + Buffer.byteLength(base64 ?? '', 'base64'), 0);
}

/**
 * The mistake when these programs and the others of the merchant together exceed the limit; otherwise null. `live` is
 * the version that stays stored together with the new content.
 */
export async function imagesBeyondLimit(
  deps: Deps,
  {
    merchantId,
    programs,
  }: { merchantId: string; programs: readonly (Templated & { _id: string; live: Templated | null })[] },
): Promise<string | null> {
  const max = await limitOf(deps, { merchantId, limit: 'imageBytes' });
  const others = await otherImages(deps, { merchantId, ids: programs.map(({ _id }) => _id) });
  const bytes = programs.reduce((sum, program) => sum + imageBytesOf(program, program.live), others.bytes);
  return bytes <= max
    ? null
    : `merchant ${merchantId} would store ${bytes} bytes of images, more than ${max} (${merchantLimits.imageBytes})`;
}

/** The images of the newest edits and live versions of all programs but some. `ids`: of all programs. */
async function otherImages(
  deps: Deps,
  { merchantId, ids }: { merchantId: string; ids: readonly string[] },
): Promise<{ bytes: number; ids: string[] }> {
  const { programDrafts, programs } = deps.collections;
  const counted = new Set(ids);
  const drafts = await programDrafts.find({ merchantId }, { projection: { imageBytes: 1 } }).toArray();
  let bytes = 0;
  for (const { _id, imageBytes } of drafts) {
    if (!counted.has(_id)) bytes += imageBytes;
    counted.add(_id);
  }
  // Programs that were never edited since there are drafts.
  const live = await programs.find({ merchantId }, { projection: { _id: 1 } }).toArray();
  const unedited = live.map(({ _id }) => _id).filter((id) => !counted.has(id));
  const read = await programs.find({ _id: { $in: unedited } }, { projection: { 'passTemplate.images': 1 } }).toArray();
  for (const program of read) bytes += imageBytesOf(program);
  return { bytes, ids: [...counted, ...unedited] };
}

interface Publishing extends ProgramAt {
  content: ProgramContent;
  /** The version that was live so far. */
  live: Program | null;
}

/** The ids of versions that must go, or must not be kept, when the content is published: the oldest that do not fit. */
export async function versionsBeyondLimit(
  deps: Deps,
  { merchantId, programId, content, live }: Publishing,
): Promise<string[]> {
  const { programs, programVersions } = deps.collections;
  const max = await limitOf(deps, { merchantId, limit: 'imageBytes' });
  const { bytes, ids } = await otherImages(deps, { merchantId, ids: [programId] });
  const [kept, others] = await Promise.all([
    programVersions.find({ programId: { $in: ids } }, { projection: { publishedAt: 1, imageBytes: 1 } }).toArray(),
    programs.find({ _id: { $in: ids.filter((id) => id !== programId) } }, { projection: { version: 1 } }).toArray(),
  ]);
  const lives = new Set(others.map((program) => programVersionId(program._id, versionOf(program))));
  const liveId = live && programVersionId(programId, versionOf(live));
  const isNew = liveId !== null && !kept.some(({ _id }) => _id === liveId);
  const newestFirst = kept
    .filter(({ _id }) => !lives.has(_id))
    .toSorted((a, b) => (b.publishedAt?.getTime() ?? 0) - (a.publishedAt?.getTime() ?? 0))
    .map(({ _id, imageBytes = 0 }) => ({ _id, imageBytes }));
  if (isNew) newestFirst.unshift({ _id: liveId, imageBytes: imageBytesOf(live) });
  let room = max - bytes - imageBytesOf(content);
  return newestFirst.flatMap(({ _id, imageBytes }) => {
    room -= imageBytes;
    return room < 0 ? [_id] : [];
  });
}
