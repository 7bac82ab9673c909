// Requests and answers of a program's designer (docs/interface.md#42-programs). The fields are those of the program
// file.
import { z } from 'zod';
import { actor } from '../access/actor.schema.js';
import { auditChange } from '../access/audit.schema.js';
import { nameText, text } from '../shared/text.js';
import { type Json, patchOf } from './mergePatch.rules.js';
import { programFile, programRecord } from './programs.schema.js';

const { $schema, _id, merchantId, archived, ...content } = programFile.shape;

export const programContentFields = Object.keys(content);

/** Fields of files and answers in addition to a program's content. An edit may contain them but not change them. */
const fixed = {
  $schema,
  _id: _id.optional(),
  merchantId: merchantId.describe("the caller's own"),
  archived: z.boolean().optional().describe('as it is: there are endpoints to archive and to restore'),
};

/** A new program. The rules between fields are those of a program file. */
export const programRequest = z.strictObject({ ...fixed, ...content });

const version = z
  .int()
  .min(1)
  .describe('the version that was read; when the program has another one, the answer is 409');

const fieldPatches: Record<string, z.ZodType> = Object.fromEntries(
  Object.entries(content).map(([name, field]) => [name, patchOf(field).nullable().optional()]),
);

export const programPatch: z.ZodType<Json & { version?: number | undefined }> = z.strictObject({
  ...fieldPatches,
  ...fixed,
  version: version.optional(),
  liveVersion: z.int().nullable().optional().describe('ignored, so that the draft can be sent back as it was read'),
});

export const publishRequest = z.strictObject({ version: version.optional() }).optional();

/** The images of a template are large, and its fields are those of the program file. */
const template = z.record(z.string(), z.unknown()).describe('as in the program file, with its defaults');

/** The newest edit of a program, with everything that the designer changes. */
export const programDraft = z.object({
  ...programRecord.shape,
  ...content,
  passTemplate: template,
  version: z.int().describe('of the newest edit; `PATCH` and `publish` compare it'),
  liveVersion: z.int().nullable().describe('null for a program that was never published'),
});

const rebuild = z.object({ batchId: z.string() }).nullable();

export const publishedProgram = z.object({
  program: programRecord,
  rebuild: rebuild.describe('the batch that pushes the passes in use; null where there is none'),
});

export const finding = z.object({
  path: z.string().describe('the field, such as `passTemplate.colors.label`'),
  severity: z
    .enum(['error', 'warning'])
    .describe('an error keeps the program from being saved, or from being published'),
  message: z.string(),
});

export const publishPreview = z.object({
  passes: z.int().describe('members whose pass is on a phone or saved at Google, and will be pushed'),
  full: z.int().describe('cards that the new goal makes full'),
  overFull: z.int().describe('cards with more than the new goal'),
  tierMoves: z.int().describe('members whose tier moves'),
  rewardsLost: z.int().describe('members with a reward that is ready, and no longer with the new version'),
  findings: z
    .array(finding)
    .describe('what the new version does to passes in use; an error keeps it from being published'),
  counted: z.int().describe('how many members were looked at'),
  complete: z.boolean().describe('false when the program has more members than were looked at'),
});

export const programVersion = z.object({
  version: z.int(),
  live: z.boolean(),
  publishedAt: z.iso.datetime().nullable().describe('null for one from before programs had versions'),
  publishedBy: actor.nullable(),
  name: z.string(),
  slug: z.string(),
  changes: z.array(auditChange).optional(),
});

export const programVersionDetail = programVersion.extend({
  program: z.record(z.string(), z.unknown()).describe('the fields of the version; a `PATCH` takes them'),
});

const sampleMember = z
  .strictObject({
    firstName: nameText(100),
    lastName: nameText(100),
    memberCode: text(1, 20),
    externalId: text(1, 64),
    balance: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
    lifetimePoints: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
    status: z.enum(['active', 'voided', 'expired']),
    changeMessage: text(0, 200),
  })
  .partial();

export const previewRequest = z.strictObject({
  program: z.record(z.string(), z.unknown()).describe('an unsaved draft: the fields of the program file'),
  member: sampleMember.optional().describe('whose pass is shown; without it a sample'),
});

export type SampleMember = z.output<typeof sampleMember>;

const shown = z.record(z.string(), z.unknown());

/** The pass of one member. */
export const memberPreview = z.object({
  apple: shown.describe('the pass.json, as a phone in the language of the program shows it'),
  appleImages: z.record(z.string(), z.string()).describe('the image files of the pass, in base64'),
  google: z.object({ class: shown, object: shown }).describe('the loyalty class and the loyalty object'),
});

const { apple, appleImages, google } = memberPreview.shape;

export const programPreview = z.object({
  apple: apple.nullable().describe('the pass.json; null while the draft has errors'),
  appleImages: appleImages.nullable().describe('the image files of the pass, in base64'),
  google: google.nullable().describe('the loyalty class and the loyalty object'),
  publicPage: z.string().nullable().describe('the HTML of the page on which people join'),
  findings: z.array(finding),
});
