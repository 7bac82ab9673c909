// The till without its screen: connects the device, finds members, notes taps and has them sent.
import { createStore, type Store } from '../value.js';
import { createSender, type Ports } from './sender.js';
import { programOf, type TillState, waitingOf } from './state.js';
import {
  type Answer,
  type Asked,
  type Candidate,
  type Device,
  isPlausibleCode,
  type Known,
  knownAfter,
  lookupsOf,
  type Member,
  verdictOf,
} from './taps.js';

const keptTapsMs = 24 * 3_600_000;
const keptMembersMs = 7 * keptTapsMs;

export interface Till {
  state: Store<TillState>;
  /** Reads what is stored, also after another tab changed it. */
  refresh: () => Promise<boolean>;
  /** Says where the device is and sends what waits. Runs at the start, at each return and each minute. */
  connect: () => Promise<void>;
  pair: (code: string) => Promise<void>;
  find: (readings: readonly string[], programId?: string) => Promise<void>;
  /** Returns whether the tap is noted. It is not when the device cannot store it. */
  tap: (asked: Asked) => Promise<boolean>;
  chooseProgram: (programId: string) => void;
  /** Lets the cashier tap once more for the member who is shown. */
  again: () => void;
  leave: () => void;
  dismiss: (id: number) => Promise<void>;
}

export function createTill(ports: Ports): Till {
  const { store, call, now, newKey, announce } = ports;
  const state = createStore<TillState>({ phase: 'starting', line: 'unknown', taps: [], isFinding: false });
  const set = (part: Partial<TillState>) => state.set({ ...state.get(), ...part });
  let turn = 0;

  /** Returns whether the device can be read. */
  async function refresh(): Promise<boolean> {
    try {
      const code = state.get().shown?.code;
      const [device, taps, known] = await Promise.all([
        store.current(),
        store.taps(),
        code === undefined ? undefined : store.known(code),
      ]);
      const { device: _gone, isStoreBroken: _was, ...rest } = state.get();
      const { shown } = rest;
      // The balance and the taps that it has change at once, also in a tab that did not send them.
      const isNewer = shown?.code === code && (known?.revision ?? 0) > (shown?.known?.revision ?? 0);
      state.set({
        ...rest,
        ...{ phase: device ? 'paired' : 'unpaired', taps },
        ...(device && { device }),
        ...(shown && known && isNewer && { shown: { ...shown, known } }),
      });
      return true;
    } catch {
      set({ isStoreBroken: true });
      return false;
    }
  }

  async function changed(): Promise<void> {
    await refresh();
    announce();
  }

  function onAnswer(answer: Answer): void {
    const { shutOut: _former, ...rest } = state.get();
    const verdict = verdictOf(answer);
    const line = answer.data === undefined && !answer.error ? 'off' : 'on';
    const isBack = rest.line === 'off' && line === 'on';
    state.set({ ...rest, line, ...(verdict === 'shutOut' && answer.error && { shutOut: answer.error }) });
    if (isBack) void flush(true);
  }

  /** Shows the member who is shown as the service has it now. */
  async function readAgain(memberCode: string): Promise<void> {
    const { shown: asked, device } = state.get();
    if (!asked?.known || asked.code !== memberCode) return;
    const { programId } = asked;
    const wanted = { memberCode, ...(programId && { programId }) };
    const before = await store.known(memberCode);
    const answer = await call('/till/lookup', wanted, { token: device?.token });
    const member = answer.data as Member | undefined;
    // The answer to a tap that came in between is newer.
    if (!member || (await store.known(memberCode))?.revision !== before?.revision) return;
    const known = await store.remember([memberCode], { member, programId: answer.programId ?? programId, at: now() });
    const { shown } = state.get();
    if (shown?.code === memberCode) set({ shown: { ...shown, known, isFresh: true } });
  }

  const flush = createSender(ports, {
    onAnswer,
    async onSettled(tap, answer) {
      const known = await store.known(tap.code);
      const program = programOf(state.get(), known?.programId);
      const told = known && knownAfter(tap, answer, { known, program, now: now() });
      const kept = told && (await store.remember([tap.code], told));
      await changed();
      const { shown, taps } = state.get();
      if (kept && shown?.code === tap.code) {
        // What could not be stored before is older than this answer.
        const isOlder = shown.known?.revision === Number.POSITIVE_INFINITY;
        set({ shown: { ...shown, ...(isOlder && { known: kept }), isFresh: shown.isFresh || !answer.isRepeat } });
      }
      const isLast = !taps.some(({ code, state: of }) => code === tap.code && of === 'waiting');
      // What was shown has led to the refusal; and the answer to a change does not say the tier.
      if (answer.error || (kept && isLast && program?.style === 'tiered'))
        void readAgain(tap.code).catch(() => undefined);
    },
    async sendable() {
      const device = await store.current();
      // A browser has one session: the taps of one person are not sent with that of another.
      return device && (device.token !== undefined || (await personNow())?.id === device.id) ? device : undefined;
    },
  });

  async function personNow(): Promise<Device | undefined> {
    const answer = await call('/auth/session', undefined, {});
    const session = answer.data;
    if (!session?.permissions.includes('till:use')) {
      if (state.get().phase === 'paired') onAnswer(answer);
      return undefined;
    }
    return { id: `user:${session.merchant.id}:${session.user.id}`, counted: 0, aheadMs: 0 };
  }

  /** The latest `greet`. Its answer says by what this device may find people. */
  let greeting: Promise<boolean | undefined> = Promise.resolve(undefined);

  /** Returns whether the service accepted it; undefined without a device, a readable store or a session. */
  async function greet(): Promise<boolean | undefined> {
    if (!(await refresh())) return undefined;
    let { device } = state.get();
    if (device?.token === undefined) {
      const person = await personNow();
      if (person && person.id !== device?.id) {
        await store.adopt(person);
        await changed();
      }
      device = person && state.get().device;
    }
    if (!device) return undefined;
    const { id, token, counted } = device;
    const askedAt = now();
    const waiting = waitingOf(state.get()).length;
    const answer = await call('/till/hello', token === undefined ? {} : { lastSequence: counted, waiting }, { token });
    onAnswer(answer);
    const hello = answer.data;
    if (hello) {
      const aheadMs = Math.round(Date.parse(hello.now) - (askedAt + now()) / 2);
      await store.learn(id, { hello, aheadMs });
      await store.tidy({ taps: now() - keptTapsMs, members: now() - keptMembersMs });
    }
    // What is known of members belongs to those who may ask for it.
    if (verdictOf(answer) === 'shutOut') await store.forgetMembers();
    await (hello ? changed() : refresh());
    return hello !== undefined;
  }

  async function connect(): Promise<void> {
    greeting = greet();
    const isAccepted = await greeting;
    if (isAccepted !== undefined) await flush(isAccepted);
  }

  async function pair(code: string): Promise<void> {
    const answer = await call('/till/pair', { code }, {});
    const made = answer.data;
    if (!made) {
      const { code: failure = 'OFFLINE', display, message } = answer.error ?? {};
      set({ problem: { code: failure, text: display ?? message } });
      return;
    }
    const { problem: _former, shutOut: _was, shown: _s, choices: _c, ...rest } = state.get();
    state.set(rest);
    // Each pairing counts from 1.
    try {
      await store.adopt({ id: `reader:${made.reader.id}:${newKey()}`, token: made.token, counted: 0, aheadMs: 0 });
    } catch {
      set({ isStoreBroken: true });
      return;
    }
    await changed();
    await connect();
  }

  const onlyProgram = (): string | undefined => {
    const programs = state.get().device?.hello?.programs ?? [];
    return programs.length === 1 ? programs[0]?._id : undefined;
  };

  /** What this device knows of the card, by each reading. */
  async function knownBy(readings: readonly string[]): Promise<(Known | undefined)[]> {
    try {
      return await Promise.all(readings.map((reading) => store.known(reading.toUpperCase())));
    } catch {
      return readings.map(() => undefined);
    }
  }

  async function find(given: readonly string[], programId?: string): Promise<void> {
    turn += 1;
    const mine = turn;
    const { shown: _s, choices: _c, problem: _p, ...rest } = state.get();
    state.set({ ...rest, isFinding: true });
    let { device } = state.get();
    const readings = device?.readsByPosition ? given.toReversed() : [...given];
    const before = await knownBy(readings);
    // From the first lookup on it is known how the scanner types.
    const isClear = readings.length < 2 || (device?.readsByPosition !== undefined && (before[0] || !before[1]));
    const known = before.find((each) => each !== undefined);
    if (isClear && known && mine === turn)
      set({ shown: { code: known.member.memberCode, programId: known.programId, known, isFresh: false } });
    // Before its first greeting the device does not know whether it may look these up.
    if (!device?.hello && lookupsOf(readings, ['phone', 'email']).some((each) => !('memberCode' in each))) {
      await greeting.catch(() => undefined);
      if (mine !== turn) return;
      ({ device } = state.get());
    }
    let answer: Answer = { status: 0 };
    let asked: Record<string, string> = {};
    for (asked of lookupsOf(readings, device?.hello?.lookupBy ?? [])) {
      answer = await call('/till/lookup', { ...asked, ...(programId && { programId }) }, { token: device?.token });
      if (answer.error?.code !== 'MEMBER_NOT_FOUND') break;
    }
    // What this device may not look up says nothing of the device.
    if (answer.error?.code !== 'PERMISSION_DENIED') onAnswer(answer);
    if (mine !== turn) return;
    const { data, error } = answer;
    if (data !== undefined) {
      const member = data as Member;
      const told: Known = { member, programId: answer.programId, at: now() };
      const code = member.memberCode;
      const scanned = asked.memberCode?.toUpperCase() ?? code;
      // A device that cannot store shows it all the same.
      const unstored = { ...told, revision: Number.POSITIVE_INFINITY };
      const kept = await store.remember([...new Set([code, scanned])], told).catch(() => unstored);
      // The card may have been shown, and tapped, before the service answered.
      const { shown } = state.get();
      const tapped = shown?.code === code ? shown : undefined;
      if (mine === turn)
        set({ shown: { ...tapped, code, programId: answer.programId, known: kept, isFresh: true }, isFinding: false });
      if (device && given.length > 1)
        await store.learn(device.id, { readsByPosition: asked.memberCode !== given[0] }).catch(() => undefined);
      return;
    }
    if (verdictOf(answer) === 'again') {
      if (isClear) showWithoutLine(readings[0] ?? '');
      else offerReadings(readings, before);
      return;
    }
    const { shown: _gone, ...others } = state.get();
    const candidates = (error?.details as { candidates?: Candidate[] } | undefined)?.candidates;
    if (error?.code === 'CODE_AMBIGUOUS' && candidates)
      state.set({ ...others, isFinding: false, choices: { candidates, areReadings: false } });
    else
      state.set({
        ...others,
        isFinding: false,
        problem: { code: error?.code ?? '', text: error?.display ?? error?.message },
      });
  }

  function offerReadings(readings: readonly string[], before: readonly (Known | undefined)[]): void {
    const candidates = readings.map((memberCode, index): Candidate => {
      const known = before[index];
      if (!known) return { memberCode, firstName: null, lastInitial: null, programId: undefined };
      return { ...known.member, programId: known.programId };
    });
    set({ isFinding: false, choices: { candidates, areReadings: true } });
  }

  function showWithoutLine(code: string): void {
    const part: Partial<TillState> = { isFinding: false };
    if (!isPlausibleCode(code)) part.problem = { code: 'OFFLINE' };
    else part.shown = { code, programId: onlyProgram(), known: undefined, isFresh: false };
    set(state.get().shown ? { isFinding: false } : part);
  }

  return {
    state,
    refresh,
    connect,
    pair,
    find,
    async tap(asked) {
      const noted = await store.add(asked, { key: newKey(), at: now() }).catch(() => undefined);
      const { shown, taps } = state.get();
      const part: Partial<TillState> = noted ? { taps: [...taps, noted] } : {};
      if (shown?.code === asked.code) {
        const { isNotNoted: _former, ...rest } = shown;
        part.shown = { ...rest, ...(noted ? { doneId: noted.id } : { isNotNoted: true }) };
      }
      set(part);
      if (!noted) return false;
      announce();
      void flush();
      return true;
    },
    chooseProgram(programId) {
      const { shown } = state.get();
      if (shown) set({ shown: { ...shown, programId } });
    },
    again() {
      const { shown } = state.get();
      if (!shown) return;
      const { doneId: _done, ...before } = shown;
      set({ shown: before });
    },
    leave() {
      turn += 1;
      const { shown: _s, choices: _c, problem: _p, ...rest } = state.get();
      state.set({ ...rest, isFinding: false });
    },
    async dismiss(id) {
      await store.dismiss(id);
      await changed();
    },
  };
}
