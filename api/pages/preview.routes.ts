// What programs and members look like on phones and on the public page.
import { readProgram } from '../../activities/programs/program.reads.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { Routes } from '../http/request.js';
import { programAt } from '../programs/programs.reads.js';
import { drawPosterFile } from './posterThread.effect.js';
import { previewLive, previewMember, previewProgram } from './preview.view.js';
import { wordsFor } from './words.view.js';

export const previewRoutes: Routes<'previewProgram' | 'previewLiveProgram' | 'previewMember' | 'drawPoster'> = {
  async previewProgram({ deps, caller: { merchantId }, body: { program, member } }) {
    return { data: await previewProgram(deps, { merchantId, program, member }) };
  },

  async previewLiveProgram({ deps, caller, params }) {
    return { data: await previewLive(deps, await programAt(deps, caller, params)) };
  },

  /** Throws PROGRAM_NOT_FOUND for one that is not published, PROGRAM_ARCHIVED, PAGE_CLOSED. */
  async drawPoster({ deps, caller, params, query: { format, type }, ctx }) {
    const program = await readProgram(deps, await programAt(deps, caller, params));
    if (program.archived) throw new ServiceError('PROGRAM_ARCHIVED');
    if (!program.enrollment.open) throw new ServiceError('PAGE_CLOSED');
    const url = `${deps.config.PUBLIC_URL}/enroll/${program.slug}`;
    const { language } = wordsFor(ctx, program);
    const draw = () => drawPosterFile({ program, language, url, format, type });
    const file = await deps.largeRequests.run(caller.merchantId, draw);
    const mediaType = type === 'pdf' ? 'application/pdf' : 'image/png';
    return { file, fileName: `${program.slug}-${format}.${type}`, type: mediaType };
  },

  async previewMember({ deps, caller, params }) {
    return { data: await previewMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' }) };
  },
};
