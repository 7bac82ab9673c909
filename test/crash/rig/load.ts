// The mixed load of a crash run: all kinds of operations with random weights and tricks from the seed. Each operation
// becomes a record of its requests and its result.
import { FormData } from 'undici';
import type { BalanceKind, Kind, Operation, Outcome } from '../evidence.js';
import { type Answer, type Asked, type Called, type Caller, isAnswer } from './caller.js';
import type { Random } from './random.js';
import { programIds, type Site, styleOf, type World } from './world.js';

export interface Known {
  id: string;
  programId: string;
}

const weights: Record<Kind, number> = {
  delta: 46,
  value: 10,
  redeem: 14,
  earn: 14,
  reverse: 12,
  enroll: 10,
  status: 9,
  tag: 10,
  import: 1,
  replay: 1,
};
const refusals: readonly string[] = [
  'ALREADY_REVERSED',
  'BALANCE_TOO_LOW',
  'CARD_FULL',
  'CARD_NOT_FULL',
  'EARN_LIMIT_REACHED',
  'MEMBER_NOT_ACTIVE',
  'POINTS_EXPIRED',
  'STAMP_DELTA_ONLY',
  'TAG_LIMIT_EXCEEDED',
];
/**
 * Probabilities of the tricks: stop after the first request, repeat after the answer, repeat with another body, send
 * two requests at once, report a sale of three days ago.
 */
const allTricks = { giveUp: 0.03, askAgain: 0.1, otherBody: 0.06, twice: 0.08, oldSale: 0.15 };

const threeDaysAgo = () => ({ occurredAt: new Date(Date.now() - 71 * 3_600_000).toISOString() });

export interface Load {
  operations: Operation[];
  /** Members that exist and can be changed. */
  known: Known[];
  /** Runs one operation to its end. */
  step(): Promise<void>;
  enroll(programId?: string): Promise<void>;
  importFile(): Promise<void>;
  /** Reverses that ledger entry; by default a recent change of the member. */
  keyedChange(kind: BalanceKind, member: Known, transactionId?: string): Promise<void>;
  /** Points of a sale three days ago: in a program whose points live for a day they expire at once. */
  oldSale(member: Known): Promise<void>;
}

export interface LoadInput {
  world: World<Site>;
  caller: Caller;
  random: Random;
  /** How many of the first members get a phone. */
  phones?: number;
  /** False for clients without tricks, which repeat a request until it is answered. */
  tricks?: boolean;
}

const nounOf = { delta: 'points', value: 'points', redeem: 'redeem', earn: 'earn', reverse: 'reverse' } as const;

const noTricks = { giveUp: 0, askAgain: 0, otherBody: 0, twice: 0, oldSale: 0 };

export function createLoad({ world, caller, random, phones = 0, ...given }: LoadInput): Load {
  const tricks = given.tricks === false ? noTricks : allTricks;
  const operations: Operation[] = [];
  const known: Known[] = [];
  let made = 0;
  let phonesLeft = phones;

  const outcomeOf = ({ answer, surprises, doubtful }: Called, operation: Operation): Outcome => {
    operation.surprises.push(...surprises);
    if (!isAnswer(answer)) return 'indeterminate';
    if (answer.status < 300) return 'acknowledged';
    if (!refusals.includes(answer.code)) operation.surprises.push(`${answer.status} ${answer.code}`);
    return doubtful ? 'indeterminate' : 'refused';
  };

  const begin = (kind: Kind, memberId: string): Operation => {
    const operation: Operation = {
      ...{ kind, memberId, outcome: 'indeterminate', requests: 0, bodies: [], surprises: [] },
    };
    operations.push(operation);
    return operation;
  };

  const limitOf = () => (random.chance(tricks.giveUp) ? { attempts: 1 } : {});

  async function enroll(programId = random.pick(programIds)): Promise<void> {
    made += 1;
    const email = `member-${made}@example.com`;
    const initialPoints = styleOf(programId) === 'stamps' ? random.whole(0, 3) : random.whole(0, 120);
    const operation = begin('enroll', '');
    operation.people = [{ email, initialPoints }];
    const body = { programId, email, firstName: `Member ${made}`, initialPoints };
    const called = await caller.call({ method: 'POST', path: '/merchants/me/members', body }, limitOf());
    operation.requests = called.requests;
    operation.outcome = outcomeOf(called, operation);
    if (operation.outcome !== 'acknowledged' || !isAnswer(called.answer)) return;
    const { id } = JSON.parse(called.answer.text).data as { id: string };
    known.push({ id, programId });
    if (phonesLeft <= 0) return;
    phonesLeft -= 1;
    // A real phone would register again later; this one does not.
    await world.addPhone(id).catch(() => undefined);
  }

  async function importFile(): Promise<void> {
    const programId = 'crash-points';
    const people = Array.from({ length: random.whole(2, 30) }, () => {
      made += 1;
      return { email: `member-${made}@example.com`, initialPoints: random.whole(0, 50) };
    });
    const operation = begin('import', '');
    operation.people = people;
    const lines = people.map(({ email, initialPoints }) => `${email},Imported,${initialPoints}`);
    const form = new FormData();
    form.set('programId', programId);
    form.set(
      'file',
      new File([['email,firstName,initialPoints', ...lines].join('\n')], 'members.csv', { type: 'text/csv' }),
    );
    const called = await caller.call({ method: 'POST', path: '/merchants/me/members/import', form });
    operation.requests = called.requests;
    operation.outcome = outcomeOf(called, operation);
    if (operation.outcome !== 'acknowledged' || !isAnswer(called.answer)) return;
    // Each row has its own outcome.
    const { results } = JSON.parse(called.answer.text).data as { results: { row: number; outcome: string }[] };
    const failed = new Set(results.filter((result) => result.outcome === 'failed').map((result) => result.row - 1));
    operation.people = people.filter((_, index) => !failed.has(index));
    if (failed.size === 0) return;
    operations.push({
      ...operation,
      outcome: called.doubtful ? 'indeterminate' : 'refused',
      people: people.filter((_, index) => failed.has(index)),
    });
  }

  /** Replays the events of the last minute to a receiver that finally accepts everything. */
  async function replayRange(): Promise<void> {
    const { subscriptionId } = random.pick(world.receivers.filter(({ steady }) => steady));
    const operation = begin('replay', '');
    const body = { since: new Date(Date.now() - 60_000).toISOString() };
    const called = await caller.call({ method: 'POST', path: `/merchants/me/webhooks/${subscriptionId}/replay`, body });
    operation.requests = called.requests;
    operation.outcome = outcomeOf(called, operation);
  }

  async function changeStatus(member: Known): Promise<void> {
    const operation = begin('status', member.id);
    const status = random.weighted({ active: 6, voided: 2, expired: 1 });
    operation.status = status;
    const path = `/merchants/me/members/${member.id}/status`;
    const called = await caller.call({ method: 'PATCH', path, body: { status } }, limitOf());
    operation.requests = called.requests;
    operation.outcome = outcomeOf(called, operation);
    if (isAnswer(called.answer)) operation.unchanged = called.answer.text.includes('"unchanged":true');
  }

  async function addTag(member: Known): Promise<void> {
    made += 1;
    const operation = begin('tag', member.id);
    operation.tag = `tag-${made}`;
    const path = `/merchants/me/members/${member.id}/tags`;
    const called = await caller.call({ method: 'POST', path, body: { tags: [operation.tag] } }, limitOf());
    operation.requests = called.requests;
    operation.outcome = outcomeOf(called, operation);
  }

  async function keyedChange(kind: BalanceKind, member: Known, transactionId?: string, body?: object): Promise<void> {
    const known = kind === 'reverse' ? (transactionId ?? reversibleOf(member)) : '';
    if (known === undefined) return keyedChange('delta', member);
    made += 1;
    const key = `crash-key-${made}`;
    const operation = begin(kind, member.id);
    operation.keyedChangeId = `${nounOf[kind]}:${member.id}:${key}`;
    const path = kind === 'reverse' ? `transactions/${known}/reverse` : nounOf[kind];
    const asked: Asked = {
      method: path === 'points' ? 'PATCH' : 'POST',
      path: `/merchants/me/members/${member.id}/${path}`,
      key,
      body: body ?? bodyOf(kind, member),
    };
    const api = random.whole(0, 1);
    const [called, other] = await Promise.all([
      caller.call(asked, limitOf()),
      random.chance(tricks.twice) ? caller.once(asked, api) : null,
    ]);
    operation.requests = called.requests + (other ? 1 : 0);
    operation.outcome = outcomeOf(called, operation);
    note(operation, called.answer);
    // Both requests may be answered, with the same bytes, or one is refused because the other one is running.
    if (other) noteOther(operation, other, ['IDEMPOTENCY_KEY_IN_USE', ...refusals]);
    if (operation.outcome !== 'acknowledged') return;
    if (random.chance(tricks.askAgain)) {
      operation.requests += 1;
      noteOther(operation, await caller.once(asked, api), ['IDEMPOTENCY_KEY_IN_USE']);
    }
    if (random.chance(tricks.otherBody)) {
      const changed = { ...asked, body: { ...(asked.body as object), changeMessage: 'another body' } };
      const answer = await caller.once(changed, api);
      if (isAnswer(answer) && answer.code !== 'IDEMPOTENCY_KEY_REUSED' && answer.status !== 503)
        operation.surprises.push(`another body under the same key: ${answer.status} ${answer.code}`);
    }
  }

  /** One of the last five acknowledged changes of the member, whether it was reversed before or not. */
  function reversibleOf({ id }: Known): string | undefined {
    const own = operations.filter(
      ({ kind, memberId, keyedChangeId, outcome }) =>
        memberId === id && keyedChangeId !== undefined && kind !== 'reverse' && outcome === 'acknowledged',
    );
    return own.length === 0 ? undefined : random.pick(own.slice(-5)).keyedChangeId;
  }

  function bodyOf(kind: BalanceKind, { programId }: Known): object {
    if (kind === 'reverse') return {};
    const when = random.chance(tricks.oldSale) ? threeDaysAgo() : {};
    if (kind === 'redeem') return when;
    const isStamps = styleOf(programId) === 'stamps';
    if (kind === 'earn')
      return { ...when, ...(isStamps ? { quantity: random.whole(1, 2) } : { amount: random.whole(0, 6_000) }) };
    if (isStamps) return { ...when, delta: 1 };
    return { ...when, ...(kind === 'delta' ? { delta: random.whole(-20, 60) } : { value: random.whole(0, 200) }) };
  }

  function note(operation: Operation, answer: Answer): void {
    if (!isAnswer(answer) || answer.status !== 200) return;
    operation.bodies.push(answer.text);
    const { previous, current } = JSON.parse(answer.text).data as { previous: number; current: number };
    operation.answered = { previous, current };
  }

  /** Checks a further answer to the same key: it must equal the first one or be one of the allowed refusals. */
  function noteOther(operation: Operation, answer: Answer, allowed: readonly string[]): void {
    if (!isAnswer(answer) || answer.status === 503) {
      if (operation.outcome === 'refused') operation.outcome = 'indeterminate';
      return;
    }
    if (answer.status === 200) {
      operation.bodies.push(answer.text);
      // The first request may have been refused before the second one was accepted.
      if (operation.outcome === 'refused') operation.outcome = 'acknowledged';
    } else if (!allowed.includes(answer.code)) operation.surprises.push(`${answer.status} ${answer.code}`);
  }

  return {
    operations,
    known,
    enroll,
    importFile,
    keyedChange,
    oldSale: (member) => keyedChange('delta', member, undefined, { delta: 7, ...threeDaysAgo() }),
    async step() {
      const kind = known.length < 4 ? 'enroll' : random.weighted(weights);
      if (kind === 'enroll') return enroll();
      if (kind === 'import') return importFile();
      if (kind === 'replay') return replayRange();
      // Four members get 40 % of the changes, often at the same time.
      const member = random.chance(0.4) ? random.pick(known.slice(0, 4)) : random.pick(known);
      if (kind === 'status') return changeStatus(member);
      if (kind === 'tag') return addTag(member);
      return keyedChange(kind, member);
    },
  };
}
