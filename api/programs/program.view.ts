// Programs as callers see them, without pass templates: their images are large, and no caller of these endpoints needs
// them.
import type { z } from 'zod';
import type { ProgramHead } from '../../activities/programs/programHead.reads.js';
import { type programDraft, programVersion } from '../../schemas/programs/programEdits.schema.js';
import type { ProgramVersionRow } from '../../schemas/programs/programs.rows.js';
import {
  type Program,
  programRecord,
  programSnapshot,
  programSummary,
  versionOf,
} from '../../schemas/programs/programs.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { programIdOf } from '../../schemas/shared/ids.js';

type Shown = Omit<Program, 'passTemplate' | 'merchantId' | 'enrollment'>;

const idOf = ({ _id }: Shown) => ({ _id: programIdOf(_id) });

export const presentSummary = (program: Shown) => shown(programSummary, program, idOf(program));

export const presentSnapshot = (program: Shown) => shown(programSnapshot, program, idOf(program));

export const presentProgram = (program: Shown) =>
  shown(programRecord, program, { ...idOf(program), version: versionOf(program) });

/** The newest edit, with its template. */
export function presentDraft(head: ProgramHead): z.input<typeof programDraft> {
  const { programId, content, archived, version, live } = head;
  return { _id: programIdOf(programId), ...content, archived, version, liveVersion: live && versionOf(live) };
}

/** A program as its editors see it: drafts too, and always with the version of the newest edit. */
export function presentHead({ programId: _id, live, content, archived, version }: ProgramHead) {
  return presentProgram({ ...(live ?? { _id, ...content }), archived, version });
}

export function presentVersion(row: ProgramVersionRow, live: number | null) {
  const { name, slug } = row.content;
  return shown(programVersion, row, { name, slug, live: row.version === live });
}
