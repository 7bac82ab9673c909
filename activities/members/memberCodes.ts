// The codes of new members. The code of an erased member is never reused, because cards that show it may still exist.
import type { Deps } from '../../platform/deps.js';
import { newMemberCode, spentCodeId } from '../../schemas/ids.js';

export async function newMemberCodes(
  deps: Pick<Deps, 'collections'>,
  { merchantId, count, draw = newMemberCode }: { merchantId: string; count: number; draw?: () => string },
): Promise<string[]> {
  const codes: string[] = [];
  while (codes.length < count) {
    const byId = new Map(
      Array.from({ length: count - codes.length }, draw).map((code) => [spentCodeId(merchantId, code), code]),
    );
    const spent = await deps.collections.spentCodes
      .find({ _id: { $in: [...byId.keys()] } }, { projection: { _id: 1 } })
      .toArray();
    for (const { _id } of spent) byId.delete(_id);
    codes.push(...byId.values());
  }
  return codes;
}
