// The codes of new members. The code of an erased member is never reused, because cards that show it may still exist.
import type { Deps } from '../../platform/deps.js';
import { newMemberCode, spentCodeId } from '../../schemas/ids.js';

export async function newMemberCodes(
  deps: Pick<Deps, 'read'>,
  { merchantId, count, draw = newMemberCode }: { merchantId: string; count: number; draw?: () => string },
): Promise<string[]> {
  const codes: string[] = [];
  while (codes.length < count) {
    const drawn = new Set(Array.from({ length: count - codes.length }, draw));
    const spent = await Promise.all(
      Array.from(drawn, (code) => deps.read.spentCode({ _id: spentCodeId(merchantId, code) })),
    );
    codes.push(...[...drawn].filter((_, index) => !spent[index]));
  }
  return codes;
}
