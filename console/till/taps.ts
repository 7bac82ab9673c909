// What a till stores and says, and the rules about it that need no browser.

import type { Answer as Given, paths } from '../../sdk/index.js';

/** What the till calls, what it gives and what is answered, by the OpenAPI document. */
export type TillPath = Extract<keyof paths, `/till/${string}`>;
export type Called = TillPath | '/auth/session';
type Posted<P extends keyof paths> = paths[P] extends { post: infer Operation } ? Operation : never;
export type BodyOf<P extends Called> =
  Posted<P> extends { requestBody?: { content: { 'application/json': infer Body } } } ? Body : undefined;
export type DataOf<P extends Called> = Given<P extends TillPath ? Posted<P> : paths['/auth/session']['get']>['data'];

export type Hello = DataOf<'/till/hello'>;
export type Program = Hello['programs'][number];
export type Member = DataOf<'/till/lookup'>;
export type Reward = Member['rewards'][number];
export type Person = Pick<Member, 'memberCode' | 'firstName' | 'lastInitial'>;
/** Somebody whose card may be meant. */
export type Candidate = Person & { programId: string | undefined };

/** What is known of a member, and since when (this device's clock). */
export interface Known {
  member: Member;
  programId: string | undefined;
  at: number;
  /** The taps that were under way when the balance was read: it may have them. */
  sent?: number[];
  /** Grows each time that the device stores what it knows of the member. */
  revision?: number;
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
  display?: string | undefined;
  details?: unknown;
}

/** `status` 0: no answer of the service came. */
export interface Answer<Data = unknown> {
  status: number;
  data?: Data;
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

type TapPath = '/till/earn' | '/till/redeem' | '/till/undo';
type TapRequest = { [P in TapPath]: { path: P; body: BodyOf<P> } }[TapPath];

/** The call of a tap. It is the same each time, because its key belongs to it. */
export function requestOf(tap: Tap, { token }: Pick<Device, 'token'>): TapRequest {
  const { kind, code: memberCode, programId, occurredAt, sequence } = tap;
  // The taps of people are not counted.
  const counted = token !== undefined;
  const body = { memberCode, ...(programId && { programId }), occurredAt, ...(counted && { sequence }) };
  if (kind === 'undo') return { path: '/till/undo', body: { ...body, ...(counted && { undoes: tap.undoes }) } };
  if (kind === 'redeem') return { path: '/till/redeem', body: { ...body, rewardId: tap.rewardId } };
  const { quantity, amount, currency } = tap;
  const paid = { ...(amount !== undefined && { amount }), ...(currency !== undefined && { currency }) };
  const sale = quantity === undefined ? paid : { quantity };
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
  { data, isRepeat }: Answer<{ current: number }>,
  { known, program, now }: { known: Known; program: Program | undefined; now: number },
): Known | undefined {
  const balance = data?.current;
  if (balance === undefined || (isRepeat && known.sent?.includes(id))) return undefined;
  const rewards = program ? rewardsReady(program, balance) : known.member.rewards;
  return { ...known, member: { ...known.member, balance, rewards }, ...(!isRepeat && { at: now }) };
}

export function rewardsReady(program: Program, balance: number): Reward[] {
  const { goal, rewardName = '', rewards = [] } = program;
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

/** Digits of any script, and what people write between them. */
const phoneForm = /^[[(]?[+\p{Nd}][\p{Nd}\s()[\]./~\p{Pd}\u2043\u2212\u30fc\u2044\u2215\u00b7\u2022]{5,31}$/u;

/** Whether it looks like a phone number, as people write and copy it. */
const maybePhone = (text: string): boolean =>
  phoneForm.test(
    text
      .normalize('NFKC')
      .replace(/\p{Cf}/gu, '')
      .trim()
      .replace(/^tel[.:] ?/i, ''),
  );

/** What a text may mean, in the order in which it is tried. */
export function lookupsOf(readings: readonly string[], lookupBy: readonly string[]): Record<string, string>[] {
  const [first = ''] = readings;
  if (first.includes('@') && lookupBy.includes('email')) return [{ email: first }];
  const codes = readings.map((memberCode) => ({ memberCode }));
  return lookupBy.includes('phone') && maybePhone(first) ? [...codes, { phone: first }] : codes;
}

export const isPlausibleCode = (text: string): boolean => /^[\w-]{4,64}$/.test(text);
