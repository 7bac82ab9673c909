// The members whose passes a publication would change. Reads at most PROGRAM_PREVIEW_MAX_MEMBERS, for at most a second,
// so that the cost does not grow with the program.
import type { z } from 'zod';
import type { Deps } from '../../platform/deps.js';
import { tierOf } from '../../schemas/points/balance.rules.js';
import { balanceAt } from '../../schemas/points/expiry.rules.js';
import { losesReward } from '../../schemas/points/rewards.rules.js';
import type { publishPreview } from '../../schemas/programs/programEdits.schema.js';
import type { ProgramContent } from '../../schemas/programs/programs.rows.js';
import { mailFindings } from './checkContent.rules.js';
import { withExpiry } from './expirySince.writes.js';
import { expirationFindings } from './passExpiration.rules.js';
import { type ProgramAt, readHead } from './programHead.reads.js';
import { type MemberSnapshot, readSome } from './programMembers.reads.js';
import { changesPasses } from './publishPrograms.writes.js';

const forMs = 1_000;

export type PublishPreview = z.output<typeof publishPreview>;

/** Throws PROGRAM_NOT_FOUND. */
export async function previewPublication(deps: Deps, at: ProgramAt): Promise<PublishPreview> {
  const { live, draft, content } = await readHead(deps, at);
  const preview: PublishPreview = {
    passes: 0,
    full: 0,
    overFull: 0,
    tierMoves: 0,
    rewardsLost: 0,
    findings: [...expirationFindings({ live, next: content, now: deps.now() }), ...mailFindings(deps.config, content)],
    counted: 0,
    complete: true,
  };
  if (!live || !draft?.content) return preview;
  const most = deps.config.PROGRAM_PREVIEW_MAX_MEMBERS;
  const rebuilds = changesPasses(live, content);
  const ruled = await withExpiry(deps, live);
  const now = deps.now();
  preview.complete = await readSome(deps, { ...at, most, forMs }, (member) => {
    const present = { ...member, balance: balanceAt(ruled, member, now) };
    count(preview, { member: present, live, next: content, rebuilds });
  });
  return preview;
}

function count(
  preview: PublishPreview,
  {
    member,
    live,
    next,
    rebuilds,
  }: { member: MemberSnapshot; live: ProgramContent; next: ProgramContent; rebuilds: boolean },
): void {
  const { balance, lifetimePoints, deviceCount, pass } = member;
  const isFull = ({ goal }: ProgramContent) => goal !== undefined && balance >= goal;
  preview.counted += 1;
  if (rebuilds && (deviceCount > 0 || pass?.googleSaved)) preview.passes += 1;
  if (isFull(next) && !isFull(live)) preview.full += 1;
  if (next.goal !== undefined && balance > next.goal) preview.overFull += 1;
  if (tierOf(live, balance, lifetimePoints) !== tierOf(next, balance, lifetimePoints)) preview.tierMoves += 1;
  if (losesReward([live, next], balance)) preview.rewardsLost += 1;
}
