// Members (docs/interface.md#43-members), their status, their passes and their timeline.
import { withoutDue } from '../../activities/members/expireDue.writes.js';
import {
  addTagsRule,
  cardLinkRule,
  pushRule,
  removeTagsRule,
  statusRule,
} from '../../activities/members/members.rules.js';
import { removeUnusedTags, withTagsInUse } from '../../activities/members/tags.writes.js';
import { updateRule } from '../../activities/members/updateMember.rules.js';
import { cachedProgram, programKeyIn, programKeyOf, readProgram } from '../../activities/programs/program.reads.js';
import { noteChange } from '../../platform/mongodb/audit.js';
import type { DataOf } from '../../schemas/access/endpoint.schema.js';
import type { memberEndpoints } from '../../schemas/members/members.routes.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { createdEventId, enrollId, requestKeyId } from '../../schemas/shared/ids.js';
import { success } from '../http/answer.js';
import { fingerprintOf, keyOf, sayRepeated } from '../http/idempotencyKey.js';
import type { Routes } from '../http/request.js';
import { noteFollowed } from '../http/requestLog.js';
import { presentBalance, presentMember, presentMemberDetail, presentMemberWithProgram } from './member.view.js';
import { listTags, listTimeline, readMember } from './members.reads.js';
import { membersCsv } from './membersCsv.reads.js';
import { performChange } from './performChange.writes.js';
import { performEnrollment } from './performEnrollment.writes.js';
import { searchMembers } from './searchMembers.reads.js';
import { presentTimelineItem } from './timeline.view.js';
import { timelineCsv } from './timelineCsv.view.js';

type Names = Exclude<keyof typeof memberEndpoints, 'previewMember' | 'eraseMember' | 'exportMember'>;

type EnrolledMember = DataOf<typeof memberEndpoints.enrollMember>;

export const memberRoutes: Routes<Names> = {
  async enrollMember({ deps, caller, body, ctx }) {
    const { programId: sent, ...person } = body;
    const { merchantId } = caller;
    const programId = await programKeyOf(deps, { merchantId, programId: sent });
    const id = requestKeyId('enroll', merchantId, keyOf(ctx));
    const program = await readProgram(deps, { merchantId, programId });
    const replyOf: (enrolled: { kind: string; member: MemberRow }) => { status: 200 | 201; data: EnrolledMember } = ({
      kind,
      member,
    }) =>
      kind === 'created'
        ? { status: 201, data: presentMember(deps, { member, program }) }
        : { status: 200, data: { ...presentMember(deps, { member, program }), deduped: true } };
    const source = caller.credential === 'api-key' ? 'api' : 'console';
    const enrolled = await performEnrollment(deps, {
      program,
      person,
      source,
      attribution: {},
      actor: caller.actor,
      awaited: false,
      key: {
        id,
        fingerprint: fingerprintOf(body),
        answer(made) {
          const { status, data } = replyOf(made);
          return { status, body: success(data) };
        },
      },
    });
    const { _id: memberId } = enrolled.member;
    const isNew = enrolled.kind === 'created' || (enrolled.kind === 'answered' && enrolled.answer.status === 201);
    const created = { transactionId: enrollId(memberId), eventId: createdEventId(memberId) };
    noteFollowed(ctx, { memberId, ...(isNew && created) });
    if (enrolled.kind !== 'answered') return replyOf(enrolled);
    sayRepeated(ctx, true);
    // As data, because the guard masks it for a caller who may not read members.
    const { data }: { data: EnrolledMember } = JSON.parse(enrolled.answer.body.toString());
    return { status: enrolled.answer.status === 201 ? 201 : 200, data };
  },

  async listMembers({ deps, caller, query }) {
    const { page, pageSize } = query;
    const { merchantId } = caller;
    const programId = await programKeyIn(deps, { merchantId, ...query });
    const { items, total } = await searchMembers(deps, { merchantId, ...query, programId });
    const presented = await Promise.all(
      (await withoutDue(deps, items)).map(async (member) =>
        presentMemberWithProgram(deps, { member, program: await cachedProgram(deps, member) }),
      ),
    );
    return { data: { items: presented, page, pageSize, total } };
  },

  async listTags({ deps, caller }) {
    return { data: { tags: await listTags(deps, caller) } };
  },

  async getMember({ deps, caller, params }) {
    const member = await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    return { data: presentMemberDetail(deps, { member, program: await cachedProgram(deps, member) }) };
  },

  async updateMember(request) {
    const { deps, body } = request;
    const { changed } = await performChange(request, { noun: 'update', decide: updateRule(deps, body) });
    return { data: presentMember(deps, changed) };
  },

  async addTags(request) {
    const { deps, caller, params, body } = request;
    await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    const { changed } = await withTagsInUse(deps, { merchantId: caller.merchantId, tags: body.tags }, () =>
      performChange(request, { noun: 'tags', decide: addTagsRule(body.tags) }),
    );
    return { data: { ...presentMember(deps, changed), ...(changed.kind === 'unchanged' && { unchanged: true }) } };
  },

  async removeTags(request) {
    const { deps, caller, body } = request;
    const { changed } = await performChange(request, { noun: 'tags', decide: removeTagsRule(body.tags) });
    if (changed.kind === 'done') await removeUnusedTags(deps, { merchantId: caller.merchantId, tags: body.tags });
    return { data: presentMember(deps, changed) };
  },

  async replaceCardLink(request) {
    const decide = cardLinkRule(request.body);
    const { changed } = await performChange(request, { noun: 'card-link', eventType: 'pass.updated', decide });
    return { data: presentMember(request.deps, changed) };
  },

  async changeStatus(request) {
    const { deps, body } = request;
    const { changed, passUpdate } = await performChange(request, {
      noun: 'status',
      decide(member) {
        const { status, statusReason: reason } = member;
        noteChange(deps, { status, reason }, body);
        return statusRule(body.status, body.reason)(member);
      },
    });
    const member = presentMember(deps, changed);
    return { data: { member, passUpdate, ...(changed.kind === 'unchanged' && { unchanged: true }) } };
  },

  async pushPass(request) {
    const { changed, passUpdate } = await performChange(request, {
      noun: 'push',
      eventType: 'pass.updated',
      decide: pushRule(),
    });
    const { _id: memberId, memberCode, field, balance: current } = changed.member;
    return { data: { member: presentBalance({ memberId, memberCode, field, current }), passUpdate } };
  },

  async listTimeline({ deps, caller, params, query }) {
    const rows = await listTimeline(deps, {
      merchantId: caller.merchantId,
      memberId: params.id ?? '',
      limit: query.limit,
    });
    return { data: { items: rows.map(presentTimelineItem) } };
  },

  async exportMembers({ deps, caller, query }) {
    return { stream: await membersCsv(deps, { merchantId: caller.merchantId, ...query }), fileName: 'members.csv' };
  },

  async exportTimeline({ deps, caller, params }) {
    const member = await readMember(deps, { merchantId: caller.merchantId, memberId: params.id ?? '' });
    return { stream: timelineCsv(deps, { memberId: member._id }), fileName: `events-${member.memberCode}.csv` };
  },
};
