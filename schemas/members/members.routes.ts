// Endpoints: docs/interface.md, sections 4.3, 4.4 and 4.5.
import { z } from 'zod';
import { endpoint, page, pageOf, pageSize, timelineLimit } from '../access/endpoint.schema.js';
import { memberPreview } from '../programs/programEdits.schema.js';
import { writtenPhone } from '../shared/phone.rules.js';
import { idText, plainText, scannedText } from '../shared/text.js';
import { audience } from './audiences.rules.js';
import * as members from './members.schema.js';

const view = 'merchants.members:view';
const edit = 'merchants.members:edit';
const one = '/merchants/me/members/:id';

/** The filters of the list of members. */
const memberFilters = z.strictObject({
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
  audience: audience.optional(),
});

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
    query: memberFilters.extend({ page, pageSize }),
    result: pageOf(members.memberWithProgram),
  }),
  exportMembers: endpoint('get', '/merchants/me/members.csv', {
    tag: 'Members',
    summary: 'The list of members as CSV, newest first',
    description: 'All members that the filters of the list find; members who join after its start may be missing.',
    access: view,
    query: memberFilters,
    audit: { action: 'member.export-list', writes: [], ofMerchant: true },
    result: 'text/csv',
  }),
  listTags: endpoint('get', '/merchants/me/members/tags', {
    tag: 'Members',
    summary: 'All tags in use, sorted',
    description: 'At most the limit of a merchant: 1,000 (MERCHANT_MAX_TAGS).',
    access: view,
    result: z.object({ tags: z.array(z.string()) }),
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
      'The answer has the new `apple.passUrl`; the old one is 404 at once, and passes on phones go on. Somebody with the old link may have loaded the pass, and with it its token: `replaceToken` replaces that, too. The pass then has to be added again from the new link, which replaces it on the phone.',
    access: edit,
    audit: { action: 'member.card-link', writes: ['members'] },
    body: members.cardLinkRequest,
    bodyOptional: true,
    result: members.member,
    errors: ['MEMBER_NOT_FOUND'],
    example: { replaceToken: true },
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
};
