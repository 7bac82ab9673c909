// The images of a merchant's programs are stored within a limit.
import type { Deps } from '../../platform/deps.js';
import { merchantLimits } from '../../schemas/merchantLimits.js';
import type { Program } from '../../schemas/programs.js';
import { limitOf } from '../access/merchants.js';

/** Bytes of all images of a program, decoded from base64. */
function imageBytesOf({ passTemplate }: Pick<Program, 'passTemplate'>): number {
  const pictures = Object.values(passTemplate.images).flatMap((picture) =>
    typeof picture === 'string' ? [picture] : Object.values(picture ?? {}),
  );
  return pictures.reduce((sum: number, base64) => sum + Buffer.byteLength(base64 ?? '', 'base64'), 0);
}

/** What is wrong when the merchant stores these programs besides its others; null when they fit into its limit. */
export async function imagesBeyondLimit(
  deps: Deps,
  { merchantId, programs }: { merchantId: string; programs: readonly Program[] },
): Promise<string | null> {
  const max = await limitOf(deps, { merchantId, limit: 'imageBytes' });
  const others = await deps.collections.programs
    .find({ merchantId, _id: { $nin: programs.map(({ _id }) => _id) } }, { projection: { 'passTemplate.images': 1 } })
    .toArray();
  const bytes = [...programs, ...others].reduce((sum, program) => sum + imageBytesOf(program), 0);
  return bytes <= max
    ? null
    : `merchant ${merchantId} would store ${bytes} bytes of images, more than ${max} (${merchantLimits.imageBytes})`;
}
