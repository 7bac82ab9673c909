// The reads of one member that the parts of its page share.
import { useRead } from '../actions.js';
import { api, data } from '../api.js';

export const edit = 'merchants.members:edit';
export const changes = ['member', 'member-card', 'members', 'ledger', 'timeline', 'pass'];
/** A caller has 1,000 requests in 15 minutes; the polling of this page uses a third of them. */
export const followMs = 10_000;

export const readMember = (id: string) => data(api.GET('/merchants/me/members/{id}', { params: { path: { id } } }));
export type Detail = Awaited<ReturnType<typeof readMember>>;

/** One page of the ledger; the parts that show the same page share its read. */
export const useLedger = (id: string, page: number) =>
  useRead(
    ['ledger', id, page],
    () => data(api.GET('/merchants/me/members/{id}/transactions', { params: { path: { id }, query: { page } } })),
    { keep: true, everyMs: followMs },
  );
