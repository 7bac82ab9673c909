// The limit of the images of a merchant's programs. The newest edit of each program counts.
import type { Deps } from '../../platform/deps.js';
import { merchantLimits } from '../../schemas/merchantLimits.js';
import type { Program } from '../../schemas/programs.js';
import { limitOf } from '../access/merchants.js';

type Templated = Pick<Program, 'passTemplate'>;

/** Bytes of all images of a program, decoded from base64. */
export function imageBytesOf({ passTemplate }: Templated): number {
  const pictures = Object.values(passTemplate.images).flatMap((picture) =>
    typeof picture === 'string' ? [picture] : Object.values(picture ?? {}),
  );
  return pictures.reduce((sum: number, base64) => sum + Buffer.byteLength(base64 ?? '', 'base64'), 0);
}

const sumOf = (programs: readonly Templated[]): number =>
  programs.reduce((sum, program) => sum + imageBytesOf(program), 0);

/** The mistake when these programs and the merchant's others together exceed the limit; otherwise null. */
export async function imagesBeyondLimit(
  deps: Deps,
  { merchantId, programs }: { merchantId: string; programs: readonly (Templated & { _id: string })[] },
): Promise<string | null> {
  const max = await limitOf(deps, { merchantId, limit: 'imageBytes' });
  const { programDrafts, programs: stored } = deps.collections;
  const counted = new Set(programs.map(({ _id }) => _id));
  let bytes = sumOf(programs);
  for (const { _id, imageBytes } of await programDrafts
    .find({ merchantId }, { projection: { imageBytes: 1 } })
    .toArray()) {
    if (!counted.has(_id)) bytes += imageBytes;
    counted.add(_id);
  }
  // Programs that were not edited since drafts exist.
  const others = await stored.find({ merchantId }, { projection: { _id: 1 } }).toArray();
  const ids = others.map(({ _id }) => _id).filter((id) => !counted.has(id));
  bytes += sumOf(await stored.find({ _id: { $in: ids } }, { projection: { 'passTemplate.images': 1 } }).toArray());
  return bytes <= max
    ? null
    : `merchant ${merchantId} would store ${bytes} bytes of images, more than ${max} (${merchantLimits.imageBytes})`;
}
