// What the parts of the page of one member share: its reads, and the reversal of an entry.
import { unitIn } from '../../schemas/programs/unit.rules.js';
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { useKeyedAction } from '../keyedAction.js';
import { language } from '../language.js';
import { texts } from '../texts.js';

export const edit = 'merchants.members:edit';
export const changes = ['member', 'member-card', 'members', 'ledger', 'timeline', 'pass'];
/** A caller has 1,000 requests in 15 minutes; the polling of this page uses a third of them. */
export const followMs = 10_000;

export const readMember = (id: string) => data(api.GET('/merchants/me/members/{id}', { params: { path: { id } } }));
export type Detail = Awaited<ReturnType<typeof readMember>>;

/** What the pass doctor says. */
export const readReport = (id: string) =>
  data(api.GET('/merchants/me/members/{id}/pass', { params: { path: { id } } }));
export type Report = Awaited<ReturnType<typeof readReport>>;

/** What the member collects, inside a sentence. */
export const unitOf = ({ program }: Pick<Detail, 'program'>): string => unitIn(language, program.fields.primaryLabel);

/** One page of the ledger; the parts that show the same page share its read. */
export const useLedger = (id: string, page: number) =>
  useRead(
    ['ledger', id, page],
    () => data(api.GET('/merchants/me/members/{id}/transactions', { params: { path: { id }, query: { page } } })),
    { keep: true, everyMs: followMs },
  );

const said = texts.member;

type Entry = NonNullable<ReturnType<typeof useLedger>['data']>['items'][number];

/** The reward that an entry of the ledger redeemed; undefined when it redeemed none. */
export function rewardIn(
  { rewards }: Pick<Detail, 'rewards'>,
  { type, rewardId = 'default' }: Pick<Entry, 'type' | 'rewardId'>,
): string | undefined {
  if (type !== 'redeem') return undefined;
  return rewards.find(({ id }) => id === rewardId)?.name ?? said.types.redeem;
}

interface Reversal {
  entry: string;
  reason?: string;
  /** What is taken back, where it is a reward. */
  reward: string | undefined;
}

/** Takes back what an entry of the ledger did; `changed` says it where that is no reward. */
export const useReversal = (
  id: string,
  changed: (out: { previous: number; current: number }) => string,
  onDone?: () => void,
) =>
  useKeyedAction(
    ({ entry, reason }: Reversal, keyed) =>
      data(
        api.POST('/merchants/me/members/{id}/transactions/{transactionId}/reverse', {
          params: { path: { id, transactionId: entry }, header: keyed('reverse', id, entry, reason) },
          body: reason ? { reason } : {},
        }),
      ),
    {
      changes,
      said: (out, { reward }) => (reward === undefined ? changed(out) : said.undoneReward(reward)),
      ...(onDone && { onDone }),
    },
  );
