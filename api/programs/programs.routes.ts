// Programs: every caller reads them, console sessions edit them.
import { startStored } from '../../activities/batches/startBatch.effect.js';
import { createProgram, editProgram, setArchived } from '../../activities/programs/editProgram.writes.js';
import { readProgram } from '../../activities/programs/program.reads.js';
import { readHead } from '../../activities/programs/programHead.reads.js';
import { previewPublication } from '../../activities/programs/publishPreview.reads.js';
import { publishProgram } from '../../activities/programs/publishPrograms.writes.js';
import { listVersions, readVersion } from '../../activities/programs/versions.reads.js';
import type { programEndpoints } from '../../schemas/programs/programs.routes.js';
import { versionOf } from '../../schemas/programs/programs.schema.js';
import type { Caller } from '../http/caller.reads.js';
import { pageOfRows } from '../http/page.reads.js';
import type { Routes } from '../http/request.js';
import { presentDraft, presentHead, presentProgram, presentVersion } from './program.view.js';
import { listEdited, listPrograms, programAt } from './programs.reads.js';

/** Editors see drafts; API keys never do. */
const mayEdit = ({ credential, permissions }: Caller): boolean =>
  credential !== 'api-key' && permissions.has('merchants.programs:edit');

export const programRoutes: Routes<
  Exclude<keyof typeof programEndpoints, 'previewProgram' | 'previewLiveProgram' | 'drawPoster'>
> = {
  async listPrograms({ deps, caller }) {
    const programs = mayEdit(caller) ? await listEdited(deps, caller) : await listPrograms(deps, caller);
    return { data: programs.map(presentProgram) };
  },

  async createProgram({ deps, caller: { merchantId, actor }, body }) {
    return { data: presentDraft(await createProgram(deps, { merchantId, actor, program: body })) };
  },

  async getProgram({ deps, caller, params }) {
    const at = await programAt(deps, caller, params);
    if (mayEdit(caller)) return { data: presentHead(await readHead(deps, at)) };
    return { data: presentProgram(await readProgram(deps, at)) };
  },

  async updateProgram({ deps, caller, params, body: { version, ...patch } }) {
    const at = await programAt(deps, caller, params);
    return { data: presentDraft(await editProgram(deps, { ...at, actor: caller.actor, version, patch })) };
  },

  async getProgramDraft({ deps, caller, params }) {
    return { data: presentDraft(await readHead(deps, await programAt(deps, caller, params))) };
  },

  async publishProgram({ deps, caller, params, body }) {
    const at = await programAt(deps, caller, params);
    const published = await publishProgram(deps, { ...at, actor: caller.actor, version: body?.version });
    const { program, rebuild } = published;
    const summary = `rebuild the passes of ${program._id}`;
    if (rebuild) await startStored(deps, { batch: rebuild, summary });
    return { data: { program: presentProgram(program), rebuild: rebuild && { batchId: rebuild._id } } };
  },

  async previewPublication({ deps, caller, params }) {
    return { data: await previewPublication(deps, await programAt(deps, caller, params)) };
  },

  async archiveProgram({ deps, caller, params }) {
    return {
      data: presentHead(await setArchived(deps, { ...(await programAt(deps, caller, params)), archived: true })),
    };
  },

  async restoreProgram({ deps, caller, params }) {
    return {
      data: presentHead(await setArchived(deps, { ...(await programAt(deps, caller, params)), archived: false })),
    };
  },

  async listProgramVersions({ deps, caller, params, query }) {
    const { live, versions } = await listVersions(deps, await programAt(deps, caller, params));
    const rows = versions.map((row) => presentVersion(row, live && versionOf(live)));
    return { data: pageOfRows(rows, query) };
  },

  async getProgramVersion({ deps, caller, params }) {
    const { live, row } = await readVersion(deps, {
      ...(await programAt(deps, caller, params)),
      version: params.version ?? '',
    });
    return { data: { ...presentVersion(row, live && versionOf(live)), program: { ...row.content } } };
  },
};
