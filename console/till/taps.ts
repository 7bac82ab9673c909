// What a till stores and says, and the rules about it that need no browser.

export interface Reward {
  id: string;
  name: string;
  cost: number;
}

export interface Program {
  _id: string;
  name: string;
  style: string;
  fields: { primaryLabel: string };
  goal?: number;
  rewardName?: string;
  rewards?: (Reward & { active: boolean })[];
  earn?: { per?: number; points?: number; currency?: string };
}

export interface Hello {
  reader: { id: string; name: string; location: string | null } | null;
  merchant: { name: string };
  programs: Program[];
  lookupBy: string[];
  now: string;
}

export interface Person {
  memberCode: string;
  firstName: string | null;
  lastInitial: string | null;
}

export interface Member extends Person {
  balance: number;
  tier: string | null;
  rewards: Reward[];
  status: string;
}

/** Somebody whose card may be meant. */
export type Candidate = Person & { programId: string | undefined };

/** What is known of a member, and since when (this device's clock). */
export interface Known {
  member: Member;
  programId: string | undefined;
  at: number;
  /** The taps that were sent before it was told, and not decided: the balance may have them. */
  sent?: number[];
}

/** Who taps: a paired device, or a person who is signed in. Each counts its own taps. */
export interface Device {
  id: string;
  token?: string;
  counted: number;
  /** What the service's clock is ahead of this device's. */
  aheadMs: number;
  hello?: Hello;
  /** The scanner's letters are right by their position, not by the keyboard's layout. */
  readsByPosition?: boolean;
}

export type Change =
  | { kind: 'earn'; quantity?: number; amount?: number; currency?: string }
  | { kind: 'redeem'; rewardId: string; cost: number }
  | { kind: 'undo'; undoes: number };

/** What the cashier wants, before it has its numbers. */
export type Asked = Change & {
  code: string;
  programId?: string | undefined;
  /** How the cashier knows the member. */
  name: string;
  /** What it probably does to the balance. */
  delta: number;
};

export type Tap = Asked & {
  id: number;
  device: string;
  sequence: number;
  key: string;
  /** By this device's clock. */
  at: number;
  occurredAt: string;
  state: 'waiting' | 'sent' | 'refused';
  /** It was sent at least once, so that the service may have it. */
  isTried?: boolean;
  why?: string;
  dismissed?: boolean;
};

export interface Failure {
  code: string;
  message: string;
  display?: string;
  details?: unknown;
}

/** `status` 0: no answer of the service came. */
export interface Answer {
  status: number;
  data?: unknown;
  error?: Failure;
  retryAfterMs?: number;
  /** It is the answer of an earlier request with the same key. */
  isRepeat?: boolean;
  programId?: string;
}

const mayPass = new Set([408, 429]);
const aboutTheCaller = new Set([401, 403]);

/**
 * Whether a request is done for good; `refused` when it never will be. What is no answer of the service, such as the
 * page of a hotel's network, says nothing.
 */
export function verdictOf({ status, data, error }: Answer): 'sent' | 'refused' | 'again' | 'shutOut' {
  if (status >= 200 && status < 300) return data === undefined ? 'again' : 'sent';
  if (!error || status < 400 || status >= 500 || mayPass.has(status)) return 'again';
  if (aboutTheCaller.has(status)) return 'shutOut';
  return error.code === 'IDEMPOTENCY_KEY_IN_USE' || error.code === 'ROUTE_NOT_FOUND' ? 'again' : 'refused';
}

/** The answer to a request from what came over the line. */
export function readAnswer(
  { status, headers }: { status: number; headers: { get(name: string): string | null } },
  text: string,
): Answer {
  const seconds = Number(headers.get('Retry-After'));
  const answer: Answer = { status, ...(seconds > 0 && { retryAfterMs: seconds * 1_000 }) };
  const programId = headers.get('X-Program-Id');
  if (programId) answer.programId = programId;
  if (headers.get('Idempotent-Replayed')) answer.isRepeat = true;
  try {
    const { success, data, error } = JSON.parse(text) as { success?: boolean; data?: unknown; error?: Failure };
    if (success === true) return { ...answer, data };
    if (success === false && typeof error?.code === 'string') return { ...answer, error };
  } catch {
    // It is not the service that answered.
  }
  return answer;
}

/** The call of a tap. It is the same each time, because its key belongs to it. */
export function requestOf(tap: Tap, { token }: Pick<Device, 'token'>): { path: string; body: object } {
  const { kind, code: memberCode, programId, occurredAt, sequence } = tap;
  // The taps of people are not counted.
  const counted = token !== undefined;
  const body = { memberCode, ...(programId && { programId }), occurredAt, ...(counted && { sequence }) };
  if (kind === 'undo') return { path: '/till/undo', body: { ...body, ...(counted && { undoes: tap.undoes }) } };
  if (kind === 'redeem') return { path: '/till/redeem', body: { ...body, rewardId: tap.rewardId } };
  const { quantity, amount, currency } = tap;
  const sale = quantity === undefined ? { amount, currency } : { quantity };
  return { path: '/till/earn', body: { ...body, ...sale } };
}

const undoWithinMs = 10 * 60_000;

/** The tap that an undo takes back: the last change of the member by this device, if it is fresh. */
export function undoable(taps: readonly Tap[], code: string, now: number): Tap | undefined {
  const own = taps.filter((tap) => tap.code === code && tap.state !== 'refused');
  const change = own.findLast(({ kind }) => kind !== 'undo');
  if (!change || Math.abs(now - change.at) > undoWithinMs) return undefined;
  const isUndone = own.some((tap) => tap.kind === 'undo' && tap.undoes === change.sequence);
  return isUndone ? undefined : change;
}

/** The points of a sale. */
export const pointsFor = ({ earn }: Program, amount: number): number =>
  earn?.per && earn.points ? Math.floor((amount * earn.points) / earn.per) : 0;

/** The balance with the taps that it does not have yet. */
export function balanceWith({ member, sent = [] }: Known, taps: readonly Tap[]): number {
  const missing = taps.filter(
    ({ id, code, state }) => code === member.memberCode && state === 'waiting' && !sent.includes(id),
  );
  return missing.reduce((sum, { delta }) => sum + delta, member.balance);
}

/** What the answer to a tap tells of its member; undefined when what is known is newer. */
export function knownAfter(
  { id }: Tap,
  { data, isRepeat }: Answer,
  { known, program, now }: { known: Known; program: Program | undefined; now: number },
): Known | undefined {
  const balance = (data as { current?: number } | undefined)?.current;
  if (balance === undefined || (isRepeat && known.sent?.includes(id))) return undefined;
  const rewards = program ? rewardsReady(program, balance) : known.member.rewards;
  return { ...known, member: { ...known.member, balance, rewards }, ...(!isRepeat && { at: now }) };
}

export function rewardsReady(program: Program, balance: number): Reward[] {
  const { goal, rewardName = 'Reward', rewards = [] } = program;
  const priced: Reward[] = rewards.filter(({ active }) => active);
  if (goal !== undefined) priced.push({ id: 'default', name: rewardName, cost: goal });
  return priced.filter(({ cost }) => cost <= balance);
}

/** A redeem of a stamp card's own reward empties the card. */
export const costOf = ({ style }: Program, { id, cost }: Reward, balance: number): number =>
  style === 'stamps' && id === 'default' ? balance : cost;

/** How many more stamps fit on the card; undefined: no limit. */
export const roomOf = ({ style, goal }: Program, balance: number): number | undefined =>
  style === 'stamps' && goal !== undefined ? Math.max(goal - balance, 0) : undefined;

export const nameOf = ({ firstName, lastInitial, memberCode }: Person): string =>
  firstName ? `${firstName}${lastInitial ? ` ${lastInitial}.` : ''}` : memberCode;

/** The minor units of an amount as people type it; undefined for what is none. */
export function minorUnits(text: string, currency: string): number | undefined {
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  const [, whole, part = ''] = /^(\d{1,9})(?:[.,](\d+))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || part.length > digits) return undefined;
  return Number(whole + part.padEnd(digits, '0'));
}
