import { readProgram } from '../../activities/programs/readProgram.js';
import type { programEndpoints } from '../../schemas/endpoints/programs.js';
import { presentProgram } from '../presenters/program.js';
import { listPrograms } from '../reads/programs.js';
import type { Routes } from '../request.js';

export const programRoutes: Routes<keyof typeof programEndpoints> = {
  async listPrograms({ deps, caller }) {
    const programs = await listPrograms(deps, caller);
    return { data: programs.map(presentProgram) };
  },

  async getProgram({ deps, caller, params }) {
    return {
      data: presentProgram(await readProgram(deps, { merchantId: caller.merchantId, programId: params.id ?? '' })),
    };
  },
};
