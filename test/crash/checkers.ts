// The rules that must hold when all work is done, whichever processes died before. Each checker is a pure function from
// the evidence to its findings; an empty list means that the rule holds.
import {
  balanceKinds,
  type EventFound,
  type Evidence,
  type LedgerFound,
  type Operation,
  permanentWorkflows,
} from './evidence.js';

export interface Finding {
  /**
   * `lost`: acknowledged but missing. `doubled`: present more than once, or without a request. `wrong`: any other
   * error.
   */
  kind: 'lost' | 'doubled' | 'wrong';
  rule: string;
  detail: string;
}

type Checker = (evidence: Evidence) => Finding[];

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

const eventOfRow = ({ type }: LedgerFound): string => (type === 'redeem' ? 'reward.redeemed' : 'points.changed');

/** Every acknowledged change is in the ledger once, a refused change is not, and an indeterminate one at most once. */
const ledgerHoldsChanges: Checker = ({ operations, ledger }) => {
  const rule = 'an acknowledged change is in the ledger exactly once';
  const rows = groupBy(ledger, (row) => row.id);
  const findings: Finding[] = [];
  const asked = new Set<string>();
  for (const { kind, keyedChangeId, outcome } of operations) {
    if (!balanceKinds.some((known) => known === kind) || keyedChangeId === undefined) continue;
    asked.add(keyedChangeId);
    const found = rows.get(keyedChangeId)?.length ?? 0;
    if (outcome === 'acknowledged' && found === 0) findings.push({ kind: 'lost', rule, detail: keyedChangeId });
    if (outcome === 'refused' && found > 0)
      findings.push({ kind: 'doubled', rule, detail: `${keyedChangeId} was refused` });
    if (found > 1) findings.push({ kind: 'doubled', rule, detail: `${keyedChangeId} is there ${found} times` });
  }
  for (const row of ledger)
    if (row.type !== 'initial' && row.type !== 'expiry' && !asked.has(row.id))
      findings.push({ kind: 'doubled', rule, detail: `nobody asked for ${row.id} of ${row.memberId}` });
  return findings;
};

/** Each row's `previous` is the `current` of the row before it, and the balance is the `current` of the last row. */
const chainIsUnbroken: Checker = ({ members, ledger }) => {
  const rule = 'previous is the earlier current, and the balance is the last one and the sum';
  const findings: Finding[] = [];
  const wrong = (detail: string) => findings.push({ kind: 'wrong', rule, detail });
  const rows = groupBy(ledger, (row) => row.memberId);
  for (const member of members) {
    const own = (rows.get(member.id) ?? []).toSorted((a, b) => a.memberVersion - b.memberVersion);
    let at = 0;
    let version = 0;
    for (const row of own) {
      if (row.previous !== at) wrong(`${row.id} begins at ${row.previous}, the row before it ended at ${at}`);
      if (row.delta !== row.current - row.previous) wrong(`${row.id} says ${row.delta}`);
      if (row.current < 0) wrong(`${row.id} ends below 0`);
      if (row.memberVersion <= version) wrong(`${row.id} has the version of another row`);
      if (row.type === 'redeem' && !isRedeem(row, member))
        wrong(`${row.id} redeems from ${row.previous} to ${row.current}`);
      at = row.current;
      version = row.memberVersion;
    }
    const sum = own.reduce((total, row) => total + row.delta, 0);
    if (member.balance !== at || sum !== at)
      wrong(`${member.id} has ${member.balance}, its ledger says ${at}, in sum ${sum}`);
  }
  return findings;
};

const isRedeem = (row: LedgerFound, { goal, resets }: { goal: number; resets: boolean }): boolean =>
  row.previous >= goal && row.current === (resets ? 0 : row.previous - goal);

/**
 * A row is reversed at most once, and its reversal undoes all of its effects. The effects of all rows add up to the
 * member's values.
 */
const reversalsAreExact: Checker = ({ members, ledger }) => {
  const rule = 'a ledger entry is reversed at most once, and exactly';
  const findings: Finding[] = [];
  const wrong = (detail: string) => findings.push({ kind: 'wrong', rule, detail });
  const rows = new Map(ledger.map((row) => [row.id, row]));
  const reversals = groupBy(
    ledger.filter((row) => row.type === 'reversal'),
    (row) => row.reverses ?? '',
  );
  for (const [id, by] of reversals) {
    if (by.length > 1) findings.push({ kind: 'doubled', rule, detail: `${id} is reversed ${by.length} times` });
    const row = rows.get(id);
    for (const reversal of by) {
      if (!row || row.memberId !== reversal.memberId) wrong(`${reversal.id} reverses ${id}, which is not there`);
      else if (
        reversal.delta !== -row.delta ||
        reversal.lifetime !== -row.lifetime ||
        reversal.redeemed !== -row.redeemed
      )
        wrong(`${reversal.id} does not undo ${id}`);
    }
  }
  for (const row of ledger)
    if (row.reversedBy !== undefined && rows.get(row.reversedBy)?.reverses !== row.id)
      findings.push({ kind: 'lost', rule, detail: `${row.id} says that ${row.reversedBy} reverses it` });
  const byMember = groupBy(ledger, (row) => row.memberId);
  for (const { id, lifetimePoints, redeemedCount } of members) {
    const own = byMember.get(id) ?? [];
    const [lifetime, redeemed] = [sumOf(own, 'lifetime'), sumOf(own, 'redeemed')];
    if (lifetime !== lifetimePoints) wrong(`${id} has ${lifetimePoints} lifetime points, its ledger says ${lifetime}`);
    if (redeemed !== redeemedCount) wrong(`${id} has redeemed ${redeemedCount} times, its ledger says ${redeemed}`);
  }
  return findings;
};

const sumOf = (rows: readonly LedgerFound[], field: 'delta' | 'lifetime' | 'redeemed'): number =>
  rows.reduce((total, row) => total + row[field], 0);

/** Points expire when their time is over and not before. The changes of all rows add up to what is left. */
const pointsExpire: Checker = ({ members, ledger, collectedAt = 0 }) => {
  const rule = 'points expire once, when their time is over';
  const findings: Finding[] = [];
  const rows = groupBy(ledger, (row) => row.memberId);
  for (const { id, balance, lots } of members) {
    const own = rows.get(id) ?? [];
    for (const row of own.filter(({ type }) => type === 'expiry'))
      for (const { at } of row.lots ?? [])
        if (at > (row.createdAt ?? 0)) findings.push({ kind: 'lost', rule, detail: `${row.id} before its time` });
    if (!lots) continue;
    const left = lots.reduce((sum, lot) => sum + lot.left, 0);
    if (left !== balance) findings.push({ kind: 'wrong', rule, detail: `${id} has ${balance}, in its lots ${left}` });
    const did = groupBy(
      own.flatMap((row) => row.lots ?? []),
      ({ at }) => String(at),
    );
    for (const at of new Set([...did.keys(), ...lots.map((lot) => String(lot.at))])) {
      const sum = (did.get(at) ?? []).reduce((total, { by }) => total + by, 0);
      const has = lots.filter((lot) => String(lot.at) === at).reduce((total, lot) => total + lot.left, 0);
      const kind = sum < has ? 'doubled' : 'lost';
      if (sum !== has) findings.push({ kind, rule, detail: `${id} has ${has} until ${at}, its ledger says ${sum}` });
      if (has > 0 && Number(at) <= collectedAt)
        findings.push({ kind: 'lost', rule, detail: `${has} of ${id} are still there` });
    }
  }
  return findings;
};

/** No member earns more on one day than the program allows, even with concurrent requests. */
const limitsHold: Checker = ({ members, ledger }) => {
  const earned = groupBy(
    ledger.filter((row) => row.soldOn !== undefined && row.reversedBy === undefined),
    (row) => `${row.memberId} ${row.soldOn}`,
  );
  const limits = new Map(members.map(({ id, dailyLimit = Number.POSITIVE_INFINITY }) => [id, dailyLimit]));
  return [...earned].flatMap(([day, rows]): Finding[] => {
    const sum = sumOf(rows, 'delta');
    if (sum <= (limits.get(rows[0]?.memberId ?? '') ?? 0)) return [];
    return [{ kind: 'wrong', rule: 'nobody earns more on a day than is allowed', detail: `${day}: ${sum}` }];
  });
};

/** The answer to a change matches its ledger entry, and all answers to one key have the same bytes. */
const answersAreKept: Checker = ({ operations, ledger }) => {
  const rows = new Map(ledger.map((row) => [row.id, row]));
  return operations.flatMap(({ keyedChangeId = '', answered, bodies }): Finding[] => {
    const findings: Finding[] = [];
    if (new Set(bodies).size > 1)
      findings.push({ kind: 'wrong', rule: 'a retry gets the first answer byte for byte', detail: keyedChangeId });
    const row = rows.get(keyedChangeId);
    if (answered && row && (row.previous !== answered.previous || row.current !== answered.current))
      findings.push({ kind: 'wrong', rule: 'an answer says what the ledger says', detail: keyedChangeId });
    return findings;
  });
};

/** Each ledger entry has exactly one event, and each event of a change has its ledger entry. */
const rowsAndEventsMatch: Checker = ({ ledger, events }) => {
  const rule = 'each ledger entry has exactly one event, and no event is without its entry';
  const findings: Finding[] = [];
  const byId = new Map(events.map((event) => [event.id, event]));
  const named = groupBy(
    ledger.filter((row) => row.type !== 'initial'),
    (row) => row.eventId ?? '',
  );
  for (const [eventId, rows] of named) {
    const event = byId.get(eventId);
    for (const row of rows)
      if (!event || event.type !== eventOfRow(row) || event.previous !== row.previous || event.current !== row.current)
        findings.push({ kind: 'lost', rule, detail: `${row.id} has no event that tells of it` });
    if (rows.length > 1) findings.push({ kind: 'doubled', rule, detail: `${eventId} stands for ${rows.length} rows` });
  }
  for (const event of events)
    if (!event.internal && ['points.changed', 'reward.redeemed'].includes(event.type) && !named.has(event.id))
      findings.push({ kind: 'doubled', rule, detail: `${event.type} ${event.id} without a ledger entry` });
  return findings;
};

/** Each enrolled person exists once, with one first ledger entry, one `member.created` and one pass for each wallet. */
const membersAreEnrolledOnce: Checker = ({ operations, members, ledger, events }) => {
  const rule = 'an acknowledged enrollment made exactly one member and one event';
  const findings: Finding[] = [];
  const byEmail = groupBy(members, (member) => member.email);
  const asked = new Map<string, number>();
  for (const { people = [], outcome } of operations) {
    for (const { email, initialPoints } of people) {
      asked.set(email, initialPoints);
      const found = byEmail.get(email)?.length ?? 0;
      if (outcome === 'acknowledged' && found === 0) findings.push({ kind: 'lost', rule, detail: email });
      if (outcome === 'refused' && found > 0) findings.push({ kind: 'doubled', rule, detail: `${email} was refused` });
      if (found > 1) findings.push({ kind: 'doubled', rule, detail: `${email} is there ${found} times` });
    }
  }
  const initial = groupBy(
    ledger.filter((row) => row.type === 'initial'),
    (row) => row.memberId,
  );
  const byMember = groupBy(events, (event) => `${event.memberId} ${event.type} ${event.platform ?? ''}`);
  for (const { id, email } of members) {
    const points = asked.get(email);
    if (points === undefined) findings.push({ kind: 'doubled', rule, detail: `nobody asked for ${email}` });
    const rows = initial.get(id) ?? [];
    if (rows.length !== ((points ?? 0) > 0 ? 1 : 0) || rows.some((row) => row.current !== points))
      findings.push({ kind: 'wrong', rule, detail: `${email} has ${rows.length} first rows` });
    for (const what of ['member.created ', 'pass.created apple', 'pass.created google']) {
      const times = byMember.get(`${id} ${what}`)?.length ?? 0;
      if (times !== 1)
        findings.push({ kind: times > 1 ? 'doubled' : 'lost', rule, detail: `${what} of ${email}: ${times} times` });
    }
  }
  return findings;
};

/**
 * Status changes form a chain. Their number is at least that of the acknowledged ones and at most that of the possible
 * ones.
 */
const statusIsKept: Checker = ({ operations, members, events }) => {
  const rule = 'a status change happened once, after the one before it';
  const findings: Finding[] = [];
  const changes = groupBy(
    events.filter((event) => event.changed?.includes('status')),
    (event) => event.memberId,
  );
  const asked = groupBy(
    operations.filter((operation) => operation.kind === 'status'),
    (operation) => `${operation.memberId} ${operation.status}`,
  );
  for (const member of members) {
    const own = (changes.get(member.id) ?? []).toSorted((a, b) => a.memberVersion - b.memberVersion);
    let at = 'active';
    for (const event of own) {
      if (event.previousStatus !== at)
        findings.push({
          kind: 'wrong',
          rule,
          detail: `${event.id} begins at ${event.previousStatus} and not at ${at}`,
        });
      at = event.status ?? '';
    }
    if (member.status !== at)
      findings.push({ kind: 'wrong', rule, detail: `${member.id} is ${member.status} and not ${at}` });
    for (const status of ['active', 'voided', 'expired']) {
      const times = own.filter((event) => event.status === status).length;
      const operationsOf = asked.get(`${member.id} ${status}`) ?? [];
      // A retry that is answered "unchanged" may refer to its own first attempt.
      const certain = operationsOf.filter((operation) => operation.outcome === 'acknowledged' && !operation.unchanged);
      // A status change has no key, so each of its unanswered requests may have been applied.
      const possible = operationsOf.filter(couldHaveChanged).reduce((sum, operation) => sum + operation.requests, 0);
      if (times < certain.length)
        findings.push({ kind: 'lost', rule, detail: `${member.id} ${status}: ${times} of ${certain.length}` });
      if (times > possible)
        findings.push({ kind: 'doubled', rule, detail: `${member.id} ${status}: ${times} of ${possible}` });
    }
  }
  return findings;
};

const couldHaveChanged = ({ outcome, unchanged, requests }: Operation): boolean =>
  outcome !== 'refused' && (!unchanged || requests > 1);

/** Each tag is added by one operation only, so the tag must be on its member and in exactly one event. */
const tagsAreKept: Checker = ({ operations, members, events }) => {
  const rule = 'an acknowledged tag is on its member, and has one event';
  const byId = new Map(members.map((member) => [member.id, member]));
  const updates = groupBy(
    events.filter((event) => event.changed?.includes('tags')),
    (event) => event.memberId,
  );
  return operations.flatMap(({ kind, tag = '', memberId, outcome }): Finding[] => {
    if (kind !== 'tag') return [];
    const isThere = byId.get(memberId)?.tags.includes(tag) ?? false;
    if (outcome === 'acknowledged' && !isThere) return [{ kind: 'lost', rule, detail: `${tag} of ${memberId}` }];
    if (outcome === 'refused' && isThere) return [{ kind: 'doubled', rule, detail: `${tag} was refused` }];
    const telling = (updates.get(memberId) ?? []).toSorted((a, b) => a.memberVersion - b.memberVersion);
    const firsts = telling.filter(
      (event, index) => event.tags?.includes(tag) && !telling[index - 1]?.tags?.includes(tag),
    );
    if (isThere && firsts.length !== 1)
      return [{ kind: firsts.length > 1 ? 'doubled' : 'lost', rule, detail: `${tag} has ${firsts.length} events` }];
    return [];
  });
};

const isNotified = (events: string[], event: EventFound): boolean =>
  !event.internal && (events.includes('*') || events.includes(event.type));

/** Each event reached each steady receiver at least once, and has one row in the delivery log for each subscription. */
const eventsAreDelivered: Checker = ({ events, deliveries, subscriptions, receipts }) => {
  const rule = 'each event reaches each receiver at least once';
  const findings: Finding[] = [];
  const rows = groupBy(deliveries, ({ eventId, subscriptionId }) => `${eventId} ${subscriptionId}`);
  const accepted = new Set(
    receipts.filter((receipt) => receipt.accepted).map(({ eventId, subscriptionId }) => `${eventId} ${subscriptionId}`),
  );
  for (const event of events) {
    if (!event.published)
      findings.push({ kind: 'lost', rule, detail: `${event.type} ${event.id} is still in the outbox` });
    for (const subscription of subscriptions) {
      if (!isNotified(subscription.events, event)) continue;
      const pair = `${event.id} ${subscription.id}`;
      const log = rows.get(pair) ?? [];
      const what = `${event.type} ${event.id} to ${subscription.name}`;
      if (log.length > 1) findings.push({ kind: 'doubled', rule, detail: `${what} has ${log.length} lines of log` });
      const state = log[0]?.state;
      if (state === undefined) findings.push({ kind: 'lost', rule, detail: `${what} was never tried` });
      if (state === 'pending' || state === 'retrying')
        findings.push({ kind: 'lost', rule, detail: `${what} is left ${state}` });
      if (state === 'succeeded' && !accepted.has(pair))
        findings.push({ kind: 'lost', rule, detail: `${what} is logged as delivered and never came` });
      if (subscription.steady && !accepted.has(pair))
        findings.push({ kind: 'lost', rule, detail: `${what} never came` });
    }
  }
  return findings;
};

/** A reader of the feed that continues from the last cursor gets each event once, whichever processes died. */
const feedsAreWhole: Checker = ({ events, feeds }) => {
  const rule = 'each reader of the feed gets each event exactly once';
  const findings: Finding[] = [];
  for (const [reader, ids] of feeds.entries()) {
    const times = groupBy(ids, (id) => id);
    for (const { id, type, internal } of events) {
      if (internal) continue;
      const got = times.get(id)?.length ?? 0;
      if (got !== 1)
        findings.push({ kind: got > 1 ? 'doubled' : 'lost', rule, detail: `${type} ${id}: ${got} times by ${reader}` });
    }
  }
  return findings;
};

/** The overview counts each enrollment, each ledger entry and each successful delivery exactly once. */
const countersAreExact: Checker = ({ counted, members, ledger }) => {
  if (!counted) return [];
  const compared: [string, number, number][] = [
    ['enrolled', counted.enrolled, members.length],
    ['points', counted.points, sumOf(ledger, 'delta')],
    ['redeems', counted.redeems, sumOf(ledger, 'redeemed')],
    ['deliveries', counted.deliveries, counted.deliveriesInLog],
  ];
  return compared.flatMap(([name, count, found]): Finding[] => {
    const rule = 'the overview counts each thing exactly once';
    const detail = `${name}: ${count} counted, ${found} there`;
    return count === found ? [] : [{ kind: count < found ? 'lost' : 'doubled', rule, detail }];
  });
};

/** Each received webhook is an existing event with a valid signature, and all its copies have the same bytes. */
const receiptsAreGenuine: Checker = ({ events, receipts }) => {
  const known = new Set(events.map((event) => event.id));
  const bytes = groupBy(receipts, (receipt) => receipt.eventId);
  const findings: Finding[] = [];
  for (const [eventId, copies] of bytes) {
    if (!known.has(eventId))
      findings.push({ kind: 'doubled', rule: 'no receiver hears of what is not there', detail: eventId });
    if (new Set(copies.map((copy) => copy.bytes)).size > 1)
      findings.push({ kind: 'wrong', rule: 'every copy of an event has the same bytes', detail: eventId });
    if (copies.some((copy) => !copy.signed))
      findings.push({ kind: 'wrong', rule: 'every copy is signed', detail: eventId });
  }
  return findings;
};

/**
 * Only the permanent workflows still run. The only failed workflows are deliveries that were exhausted, as the delivery
 * log says. Only the nemesis terminates workflows; their work continues from the database.
 */
const workflowsAreAtRest: Checker = ({ workflows, deliveries }) => {
  const rule = 'no workflow is left running or failed that should not be';
  const givenUp = new Set(
    deliveries
      .filter((delivery) => delivery.state === 'exhausted')
      .map(({ eventId, subscriptionId }) => `delivery:${eventId}:${subscriptionId}`),
  );
  return workflows
    .filter(({ id, type, status }) => {
      if (type.startsWith('temporal-sys') || status === 'TERMINATED') return false;
      if (permanentWorkflows.includes(type)) return !['RUNNING', 'COMPLETED', 'CONTINUED_AS_NEW'].includes(status);
      return status !== 'COMPLETED' && !(type === 'deliverWebhook' && status === 'FAILED' && givenUp.has(id));
    })
    .map(({ id, type, status }): Finding => ({ kind: 'wrong', rule, detail: `${type} ${id} is ${status}` }));
};

/** Every answer is one that the contract allows. */
const answersAreAllowed: Checker = ({ operations }) =>
  operations.flatMap(({ kind, surprises }) =>
    surprises.map(
      (detail): Finding => ({
        kind: 'wrong',
        rule: 'every answer is one of the contract',
        detail: `${kind}: ${detail}`,
      }),
    ),
  );

const checkers: readonly Checker[] = [
  ledgerHoldsChanges,
  chainIsUnbroken,
  reversalsAreExact,
  pointsExpire,
  limitsHold,
  answersAreKept,
  rowsAndEventsMatch,
  membersAreEnrolledOnce,
  statusIsKept,
  tagsAreKept,
  eventsAreDelivered,
  feedsAreWhole,
  countersAreExact,
  receiptsAreGenuine,
  workflowsAreAtRest,
  answersAreAllowed,
];

export const check: Checker = (evidence) => checkers.flatMap((checker) => checker(evidence));

/** Duplicates that a receiver had already accepted; they are allowed, counted and shown. */
export function duplicatesOf({ receipts }: Pick<Evidence, 'receipts'>): number {
  const accepted = receipts.filter((receipt) => receipt.accepted);
  return accepted.length - new Set(accepted.map(({ eventId, subscriptionId }) => `${eventId} ${subscriptionId}`)).size;
}
