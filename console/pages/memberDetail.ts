// What the parts of the page of one member share: its reads, and the reversal of an entry.
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { useKeyedAction } from '../keyedAction.js';

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

/** Takes back what an entry of the ledger did. */
export const useReversal = (
  id: string,
  said: string | ((out: { previous: number; current: number }) => string),
  onDone?: () => void,
) =>
  useKeyedAction(
    ({ entry, reason }: { entry: string; reason?: string }, keyed) =>
      data(
        api.POST('/merchants/me/members/{id}/transactions/{transactionId}/reverse', {
          params: { path: { id, transactionId: entry }, header: keyed('reverse', id, entry, reason) },
          body: reason ? { reason } : {},
        }),
      ),
    { changes, said, ...(onDone && { onDone }) },
  );
