// The published versions of a program. The newest PROGRAM_KEPT_VERSIONS are kept.
import type { Deps } from '../../platform/deps.js';
import { type ProgramVersionRow, programVersionId } from '../../schemas/programs/programs.rows.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { contentOf, type ProgramAt, readHead } from './programHead.reads.js';

/** The live version as a kept one: a program from before versions existed has no row. */
function rowOf(live: Program): ProgramVersionRow {
  const { _id: programId, merchantId } = live;
  const version = versionOf(live);
  return { _id: programVersionId(programId, version), merchantId, programId, version, content: contentOf(live) };
}

/** Newest first, without images. Throws PROGRAM_NOT_FOUND. */
export async function listVersions(
  deps: Deps,
  at: ProgramAt,
): Promise<{ live: Program | null; versions: ProgramVersionRow[] }> {
  const { live } = await readHead(deps, at);
  const versions = await deps.collections.programVersions
    .find({ programId: at.programId, merchantId: at.merchantId }, { projection: { 'content.passTemplate': 0 } })
    .sort({ version: -1 })
    .limit(deps.config.PROGRAM_KEPT_VERSIONS)
    .toArray();
  const isKept = !live || versions.some(({ version }) => version === versionOf(live));
  return { live, versions: isKept ? versions : [rowOf(live), ...versions] };
}

/** Throws PROGRAM_NOT_FOUND, PROGRAM_VERSION_NOT_FOUND. */
export async function readVersion(
  deps: Deps,
  { version, ...at }: ProgramAt & { version: string },
): Promise<{ live: Program | null; row: ProgramVersionRow }> {
  const { live } = await readHead(deps, at);
  const kept = await deps.collections.programVersions.findOne({ _id: programVersionId(at.programId, version), ...at });
  const row = kept ?? (live && String(versionOf(live)) === version ? rowOf(live) : null);
  if (!row) throw new ServiceError('PROGRAM_VERSION_NOT_FOUND');
  return { live, row };
}
