// What programs and members look like on phones and on the public page.
import { readProgram } from '../../activities/programs/program.reads.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { Routes } from '../http/request.js';
import { programAt } from '../programs/programs.reads.js';
import { drawPoster } from './poster.view.js';
import { posterPdf } from './posterPdf.view.js';
import { posterPng } from './posterPng.view.js';
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
    const drawing = await drawPoster({ program, words: wordsFor(ctx, program), url, format });
    const fileName = `${program.slug}-${format}.${type}`;
    if (type === 'pdf') return { file: await posterPdf(drawing), fileName, type: 'application/pdf' };
    return { file: await posterPng(drawing), fileName, type: 'image/png' };
  },

  async previewMember({ deps, caller, params }) {
    return { data: await previewMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' }) };
  },
};
