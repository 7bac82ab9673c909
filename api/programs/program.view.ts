// Programs as callers see them, without pass templates: their images are large, and no caller of these endpoints needs
// them.
import type { z } from 'zod';
import type { ProgramHead } from '../../activities/programs/programHead.reads.js';
import type { programDraft } from '../../schemas/programs/programEdits.schema.js';
import type { ProgramVersionRow } from '../../schemas/programs/programs.rows.js';
import {
  type Program,
  type programRecord,
  type programSnapshot,
  type programSummary,
  versionOf,
} from '../../schemas/programs/programs.schema.js';
import { programIdOf } from '../../schemas/shared/ids.js';

type Shown = Omit<Program, 'passTemplate' | 'merchantId' | 'enrollment'>;

export function presentSummary({ _id, name, style, fields, goal, tiers }: Shown): z.input<typeof programSummary> {
  return { _id: programIdOf(_id), name, style, fields, ...(goal !== undefined && { goal }), ...(tiers && { tiers }) };
}

export function presentSnapshot(program: Shown): z.input<typeof programSnapshot> {
  const { slug, archived, pushMessages } = program;
  return { ...presentSummary(program), slug, archived, pushMessages };
}

export function presentProgram(program: Shown): z.input<typeof programRecord> {
  const { basis, rewards, rewardName, earn, expiry, timeZone, country, language } = program;
  return {
    ...presentSnapshot(program),
    ...(basis && { basis }),
    ...(rewards && { rewards }),
    ...(rewardName && { rewardName }),
    ...(earn && { earn }),
    ...(expiry && { expiry }),
    ...(timeZone && { timeZone }),
    ...(country && { country }),
    ...(language && { language }),
    version: versionOf(program),
  };
}

/** The newest edit, with its template. */
export function presentDraft(head: ProgramHead): z.input<typeof programDraft> {
  const { programId, content, archived, version, live } = head;
  return { _id: programIdOf(programId), ...content, archived, version, liveVersion: live && versionOf(live) };
}

/** A program as its editors see it: drafts too, and always with the version of the newest edit. */
export function presentHead({ programId: _id, live, content, archived, version }: ProgramHead) {
  return presentProgram({ ...(live ?? { _id, ...content }), archived, version });
}

export function presentVersion({ version, content, publishedAt, publishedBy }: ProgramVersionRow, live: number | null) {
  const { name, slug } = content;
  return {
    version,
    live: version === live,
    publishedAt: publishedAt?.toISOString() ?? null,
    publishedBy: publishedBy ?? null,
    name,
    slug,
  };
}
