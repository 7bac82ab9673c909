// Endpoints: docs/interface.md, sections 4.3, 4.4 and 4.5.
import { z } from 'zod';
import { endpoint, inLedger, page, pageOf, pageSize, paging, timelineLimit } from '../access/endpoint.schema.js';
import { importDryRun, importResult } from '../batches/batches.schema.js';
import { importOptions } from '../batches/importOptions.schema.js';
import { balanceResult, transaction } from '../points/transactions.schema.js';
import { memberPreview } from '../programs/programEdits.schema.js';
import { writtenPhone } from '../shared/phone.rules.js';
import { idText, plainText, scannedText } from '../shared/text.js';
import * as members from './members.schema.js';

const view = 'merchants.members:view';
const edit = 'merchants.members:edit';
const one = '/merchants/me/members/:id';

export const memberEndpoints = {
  enrollMember: endpoint('post', '/merchants/me/members', {
    tag: 'Members',
    summary: 'Enroll a member',
    description:
      '200 with `deduped: true` when a member with the same email is in the program already: nothing is created. An `externalId` that another member of the program has is 409.',
    access: 'merchants.members:create',
    audit: { action: 'member.create', writes: ['members'] },
    idempotent: true,
    body: members.enrollRequest,
    result: members.member,
    statuses: [201, 200],
    errors: ['PROGRAM_NOT_FOUND', 'PROGRAM_ARCHIVED', 'EXTERNAL_ID_TAKEN', 'MEMBER_NOT_FOUND'],
    example: {
      programId: 'demo-points',
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.com',
      initialPoints: 20,
    },
  }),
  listMembers: endpoint('get', '/merchants/me/members', {
    tag: 'Members',
    summary: 'List and search members, newest first',
    description:
      'A page begins within the first 100,000 members (LIST_MAX_ROWS). When each word of `q` is the beginning of more than 2,500 search words of the merchant (half of SEARCH_MAX_ROWS), a part of the matches may be found, and `total` is then a lower bound.',
    access: view,
    query: z.strictObject({
      programId: idText().optional().describe('only members of this program'),
      q: plainText()
        .min(1)
        .max(400)
        .optional()
        .describe(
          'up to 5 words; each must begin a word or part of the name, the email, the phone number, the memberCode or the externalId, or end the phone number (4 digits or more), in any case, accent and spelling',
        ),
      serial: scannedText(64)
        .optional()
        .describe('exactly a memberCode, an externalId, or the serial number of a legacy pass'),
      email: members.person.shape.email.unwrap().optional().describe('exactly this address, in any case'),
      phone: plainText()
        .min(1)
        .max(100)
        .overwrite(writtenPhone)
        .optional()
        .describe('exactly this number, in any spelling'),
      externalId: scannedText(64).optional().describe('exactly this externalId'),
      page,
      pageSize,
    }),
    result: pageOf(members.memberWithProgram),
  }),
  listTags: endpoint('get', '/merchants/me/members/tags', {
    tag: 'Members',
    summary: 'All tags in use, sorted',
    description: 'At most the limit of a merchant: 1,000 (MERCHANT_MAX_TAGS).',
    access: view,
    result: z.object({ tags: z.array(z.string()) }),
  }),
  importMembers: endpoint('post', '/merchants/me/members/import', {
    tag: 'Members',
    summary: 'Import members from a CSV file',
    description:
      'multipart/form-data with `programId` and one `file` (text/csv, at most 1 MB and 5000 rows). Headers in any case and order: firstName, lastName, email, phone, initialPoints, externalId; `mapping` gives other headers a field. Commas, semicolons or tabs; UTF-8, UTF-16, or windows-1252 when the Content-Type of the part says so. `dryRun` answers what would happen, and writes nothing.',
    access: 'merchants.members:create',
    query: importOptions,
    audit: { action: 'import.start', writes: ['batches'] },
    upload: 'csv',
    idempotent: true,
    result: z.union([importResult, importDryRun]),
    errors: ['IMPORT_INVALID', 'IMPORT_TOO_LARGE', 'PROGRAM_NOT_FOUND', 'PROGRAM_ARCHIVED'],
  }),
  getMember: endpoint('get', one, {
    tag: 'Members',
    summary: 'Read one member',
    access: view,
    result: members.memberDetail,
    errors: ['MEMBER_NOT_FOUND'],
  }),
  previewMember: endpoint('get', `${one}/preview`, {
    tag: 'Members',
    summary: 'Show the pass of a member, as both phones would',
    description: 'Made by the code that builds the passes, without the secrets of the pass.',
    access: view,
    session: true,
    result: memberPreview,
    errors: ['MEMBER_NOT_FOUND'],
  }),
  updateMember: endpoint('patch', one, {
    tag: 'Members',
    summary: 'Change names, email, phone or externalId; null removes a field',
    access: edit,
    audit: { action: 'member.edit', writes: ['members'] },
    body: members.memberPatch,
    result: members.member,
    errors: ['MEMBER_NOT_FOUND', 'EMAIL_TAKEN', 'EXTERNAL_ID_TAKEN'],
    example: { firstName: 'Augusta' },
  }),
  eraseMember: endpoint('delete', one, {
    tag: 'Members',
    summary: 'Erase a member',
    description:
      'The member is 404 from the answer on. What is kept about the person is removed within a minute; the ledger stays, without a name. The pass on phones and at Google is voided first. Emits `member.deleted`.',
    access: 'merchants.members:delete',
    audit: { action: 'member.erase', writes: ['erasures'] },
    result: members.erasure,
    errors: ['MEMBER_NOT_FOUND'],
  }),
  exportMember: endpoint('get', `${one}/export`, {
    tag: 'Members',
    summary: 'All data that is stored about a member',
    description: 'One JSON document, streamed: the rows about the member in each collection.',
    access: view,
    audit: { action: 'member.export', writes: [], target: 'id' },
    result: members.memberExport,
    errors: ['MEMBER_NOT_FOUND'],
  }),
  addTags: endpoint('post', `${one}/tags`, {
    tag: 'Members',
    summary: 'Add tags',
    access: edit,
    audit: { action: 'member.tag', writes: ['members'] },
    body: members.tagsRequest,
    result: members.member,
    errors: ['MEMBER_NOT_FOUND', 'TAG_LIMIT_EXCEEDED'],
    example: { tags: ['vip', 'early bird'] },
  }),
  removeTags: endpoint('delete', `${one}/tags`, {
    tag: 'Members',
    summary: 'Remove tags; unknown ones are ignored',
    access: edit,
    audit: { action: 'member.untag', writes: ['members'] },
    body: members.tagsRequest,
    result: members.member,
    errors: ['MEMBER_NOT_FOUND'],
    example: { tags: ['early bird'] },
  }),
  replaceCardLink: endpoint('post', `${one}/card-link`, {
    tag: 'Members',
    summary: 'Replace a leaked card link',
    description:
      'The answer has the new `apple.passUrl`; the old one is 404 at once, and passes on phones go on. Whoever had the old link may have loaded the pass, and with it its token: `replaceToken` replaces that, too. The pass then has to be added again from the new link, which replaces it on the phone.',
    access: edit,
    audit: { action: 'member.card-link', writes: ['members'] },
    body: members.cardLinkRequest,
    bodyOptional: true,
    result: members.member,
    errors: ['MEMBER_NOT_FOUND'],
    example: { replaceToken: true },
  }),
  adjustPoints: endpoint('patch', `${one}/points`, {
    tag: 'Points and rewards',
    summary: 'Add, take or set points',
    description: 'Exactly one of `delta` and `value`. Emits `points.changed`.',
    access: edit,
    audit: inLedger,
    idempotent: true,
    body: members.pointsRequest,
    result: balanceResult,
    errors: ['MEMBER_NOT_FOUND', 'MEMBER_NOT_ACTIVE', 'STAMP_DELTA_ONLY', 'CARD_FULL'],
    example: { delta: 10, changeMessage: 'You now have %@ points' },
  }),
  redeemReward: endpoint('post', `${one}/redeem`, {
    tag: 'Points and rewards',
    summary: 'Redeem a reward',
    description:
      'The reward of `rewardId`, or the one whose price is the goal. The balance loses the price; with the goal a stamp card goes back to 0. Emits `reward.redeemed`.',
    access: edit,
    audit: inLedger,
    idempotent: true,
    body: members.redeemRequest,
    bodyOptional: true,
    result: balanceResult,
    errors: [
      'MEMBER_NOT_FOUND',
      'MEMBER_NOT_ACTIVE',
      'CARD_NOT_FULL',
      'BALANCE_TOO_LOW',
      'REWARD_NOT_CONFIGURED',
      'REWARD_NOT_FOUND',
    ],
    example: { changeMessage: 'Enjoy your coffee' },
  }),
  changeStatus: endpoint('patch', `${one}/status`, {
    tag: 'Points and rewards',
    summary: 'Activate, void or expire a member',
    access: edit,
    audit: { action: 'member.status', writes: ['members'] },
    body: members.statusRequest,
    result: members.statusResult,
    errors: ['MEMBER_NOT_FOUND'],
    example: { status: 'voided', reason: 'card reported lost' },
  }),
  pushPass: endpoint('post', `${one}/push`, {
    tag: 'Points and rewards',
    summary: 'Rebuild and push the pass without changing the balance',
    access: edit,
    audit: { action: 'member.push', writes: ['members'] },
    result: members.pushResult,
    errors: ['MEMBER_NOT_FOUND'],
  }),
  listTimeline: endpoint('get', `${one}/events`, {
    tag: 'Timeline',
    summary: 'Pass lifecycle of a member, newest first',
    access: view,
    query: z.strictObject({ limit: timelineLimit }),
    result: z.object({ items: z.array(members.timelineItem) }),
    errors: ['MEMBER_NOT_FOUND'],
  }),
  exportTimeline: endpoint('get', `${one}/events.csv`, {
    tag: 'Timeline',
    summary: 'The timeline as CSV, at most 5000 rows',
    access: view,
    audit: { action: 'member.export-timeline', writes: [], target: 'id' },
    result: 'text/csv',
    errors: ['MEMBER_NOT_FOUND'],
  }),
  listTransactions: endpoint('get', `${one}/transactions`, {
    tag: 'Timeline',
    summary: 'Ledger of a member, newest first',
    access: view,
    query: paging.extend({ reference: members.reference.optional().describe('only the entries with it') }),
    result: pageOf(transaction),
    errors: ['MEMBER_NOT_FOUND'],
  }),
};
