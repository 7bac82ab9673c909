// Endpoints: docs/interface.md#42-programs.
import { z } from 'zod';
import { endpoint, pageOf, paging } from '../access/endpoint.schema.js';
import { posterQuery } from './poster.schema.js';
import * as edits from './programEdits.schema.js';
import { programRecord } from './programs.schema.js';

const tag = 'Programs';
const common = { tag, access: 'merchants.programs:view' } as const;
const editing = { tag, access: 'merchants.programs:edit', session: true } as const;
const all = '/merchants/me/programs';
const one = `${all}/:id`;
const sample = {
  slug: 'corner-cafe',
  name: 'Corner Café',
  style: 'stamps',
  fields: { primaryLabel: 'STAMPS' },
  goal: 8,
};

export const programEndpoints = {
  listPrograms: endpoint('get', all, {
    ...common,
    summary: 'List programs',
    description: 'A console session that may edit programs also gets those that were never published.',
    result: z.array(programRecord),
  }),
  createProgram: endpoint('post', all, {
    ...editing,
    audit: { action: 'program.create', writes: ['programDrafts'] },
    summary: 'Make a draft of a new program',
    description: 'API keys and customers do not see it until it is published.',
    largeBody: true,
    body: edits.programRequest,
    result: edits.programDraft,
    statuses: [201],
    errors: ['SLUG_TAKEN', 'PROGRAM_EXISTS', 'PROGRAM_LIMIT_REACHED'],
    example: sample,
  }),
  previewProgram: endpoint('post', `${all}/preview`, {
    ...editing,
    audit: { not: 'stores nothing' },
    summary: 'Show what an unsaved draft looks like',
    description:
      'Made by the code that builds the passes; nothing is stored. Mistakes of the draft are findings, not a failure.',
    largeBody: true,
    body: edits.previewRequest,
    result: edits.programPreview,
    example: { program: sample, member: { firstName: 'Ada', balance: 3 } },
  }),
  previewLiveProgram: endpoint('get', `${one}/preview`, {
    ...common,
    session: true,
    summary: 'Show what the live version looks like, with a sample member',
    result: edits.programPreview,
    errors: ['PROGRAM_NOT_FOUND'],
  }),
  getProgram: endpoint('get', one, {
    ...common,
    summary: 'Read one program',
    description:
      'The live version. A console session that may edit programs also gets a program that was never published, and as `version` that of the newest edit.',
    result: programRecord,
    errors: ['PROGRAM_NOT_FOUND'],
  }),
  updateProgram: endpoint('patch', one, {
    ...editing,
    audit: { action: 'program.edit', writes: ['programDrafts'] },
    summary: 'Change the draft of the next version',
    description:
      'A JSON Merge Patch (RFC 7396): null removes a field, objects are merged, lists replaced; a given `expiry` replaces the old one whole. Nothing that is live changes. Without `version` the newest edit is changed.',
    largeBody: true,
    body: edits.programPatch,
    result: edits.programDraft,
    errors: ['PROGRAM_NOT_FOUND', 'PROGRAM_IN_USE', 'SLUG_TAKEN', 'VERSION_CONFLICT'],
    example: { version: 3, goal: 10, passTemplate: { colors: { background: '#1d4ed8' } } },
  }),
  getProgramDraft: endpoint('get', `${one}/draft`, {
    ...editing,
    summary: 'Read the newest edit with its template',
    result: edits.programDraft,
    errors: ['PROGRAM_NOT_FOUND'],
  }),
  publishProgram: endpoint('post', `${one}/publish`, {
    ...editing,
    audit: { action: 'program.publish', writes: ['programs'] },
    summary: 'Make the newest edit the live version',
    description:
      'The passes in use are pushed afresh by a batch: `GET /merchants/me/batches/{id}` shows how far it is. When nothing differs from the live version, nothing happens.',
    body: edits.publishRequest,
    bodyOptional: true,
    result: edits.publishedProgram,
    errors: ['PROGRAM_NOT_FOUND', 'PROGRAM_IN_USE', 'SLUG_TAKEN', 'VERSION_CONFLICT'],
    example: { version: 4 },
  }),
  previewPublication: endpoint('get', `${one}/publish-preview`, {
    ...editing,
    summary: 'The members whose passes the publication of the newest edit would change',
    description:
      'Looks at 50,000 members (PROGRAM_PREVIEW_MAX_MEMBERS) at most, for at most a second. Where a program has more, `complete` is false and the numbers are those of the members that were looked at.',
    result: edits.publishPreview,
    errors: ['PROGRAM_NOT_FOUND'],
  }),
  drawPoster: endpoint('get', `${one}/poster`, {
    ...common,
    summary: 'Draw the poster for the counter',
    description:
      'With the QR code of the page on which people join, in colours, logo and language of the live version. A table tent is an A4 sheet with lines to fold along.',
    query: posterQuery,
    result: ['application/pdf', 'image/png'],
    errors: ['PROGRAM_NOT_FOUND', 'PROGRAM_ARCHIVED', 'PAGE_CLOSED', 'POSTER_LETTERS_MISSING'],
  }),
  archiveProgram: endpoint('post', `${one}/archive`, {
    ...editing,
    audit: { action: 'program.archive', writes: ['programs', 'programDrafts'] },
    summary: 'Close the program for new members, at once',
    result: programRecord,
    errors: ['PROGRAM_NOT_FOUND'],
  }),
  restoreProgram: endpoint('post', `${one}/restore`, {
    ...editing,
    audit: { action: 'program.restore', writes: ['programs', 'programDrafts'] },
    summary: 'Open an archived program again, at once',
    result: programRecord,
    errors: ['PROGRAM_NOT_FOUND'],
  }),
  listProgramVersions: endpoint('get', `${one}/versions`, {
    ...editing,
    summary: 'List the versions that were published, newest first',
    description: 'The newest 50 are kept (PROGRAM_KEPT_VERSIONS).',
    query: paging,
    result: pageOf(edits.programVersion),
    errors: ['PROGRAM_NOT_FOUND'],
  }),
  getProgramVersion: endpoint('get', `${one}/versions/:version`, {
    ...editing,
    summary: 'Read one version with its template, for example to restore it',
    result: edits.programVersionDetail,
    errors: ['PROGRAM_NOT_FOUND', 'PROGRAM_VERSION_NOT_FOUND'],
  }),
};
