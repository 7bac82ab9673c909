// What the till keeps in the device. A connection that the system has closed, as phones do in the background, is
// opened again.
import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { Asked, Device, Known, Tap } from './taps.js';

interface Schema extends DBSchema {
  settings: { key: string; value: string };
  devices: { key: string; value: Device };
  taps: { key: number; value: Tap; indexes: { state: string; key: string } };
  members: { key: string; value: Known & { code: string } };
}

export interface Noted {
  key: string;
  at: number;
}

export interface TillStore {
  current: () => Promise<Device | undefined>;
  /** Makes a device the one that taps, and forgets what was known of members. */
  adopt: (device: Device) => Promise<void>;
  learn: (id: string, what: Partial<Pick<Device, 'hello' | 'aheadMs' | 'readsByPosition'>>) => Promise<void>;
  add: (asked: Asked, noted: Noted) => Promise<Tap>;
  taps: () => Promise<Tap[]>;
  /** In the order in which they were noted. */
  waiting: () => Promise<Tap[]>;
  /** Says that a tap is being sent. */
  markTried: (id: number) => Promise<void>;
  settle: (id: number, state: Pick<Tap, 'state' | 'why'>) => Promise<void>;
  dismiss: (id: number) => Promise<void>;
  known: (code: string) => Promise<Known | undefined>;
  /** Returns it with the taps that its balance may have. */
  remember: (codes: readonly string[], known: Known) => Promise<Known>;
  forgetMembers: () => Promise<void>;
  /** Removes what is older: taps that were sent or dismissed, and members. */
  tidy: (before: { taps: number; members: number }) => Promise<void>;
  close: () => void;
}

type Work<T> = (db: IDBPDatabase<Schema>, late: AbortSignal) => Promise<T>;

const patienceMs = 3_000;

/** A file that a test names; the page's own by default. */
export function createTillStore(name = 'till'): TillStore {
  let opening: Promise<IDBPDatabase<Schema>> | undefined;
  const forget = () => {
    opening = undefined;
  };
  const open = () => {
    opening ??= openDB<Schema>(name, 1, {
      upgrade(db) {
        db.createObjectStore('settings');
        db.createObjectStore('devices', { keyPath: 'id' });
        const taps = db.createObjectStore('taps', { keyPath: 'id', autoIncrement: true });
        taps.createIndex('state', 'state');
        taps.createIndex('key', 'key', { unique: true });
        db.createObjectStore('members', { keyPath: 'code' });
      },
      terminated: forget,
    });
    opening.catch(forget);
    return opening;
  };
  /** A database that the system has closed may never answer. `late` says that the caller has stopped waiting. */
  async function inTime<T>(work: Work<T>): Promise<T> {
    const late = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        late.abort();
        reject(new Error('The database does not answer.'));
      }, patienceMs);
    });
    async function run(): Promise<T> {
      const db = await open();
      late.signal.throwIfAborted();
      return work(db, late.signal);
    }
    return Promise.race([run(), limit]).finally(() => clearTimeout(timer));
  }
  /** Each work is one transaction, or may be repeated. */
  async function within<T>(work: Work<T>): Promise<T> {
    try {
      return await inTime(work);
    } catch {
      forget();
      return inTime(work);
    }
  }

  const currentId = (db: IDBPDatabase<Schema>) => db.get('settings', 'current');

  return {
    current: () =>
      within(async (db) => {
        const id = await currentId(db);
        return id === undefined ? undefined : db.get('devices', id);
      }),
    adopt: (device) =>
      within(async (db) => {
        const change = db.transaction(['settings', 'devices', 'members'], 'readwrite');
        const known = await change.objectStore('devices').get(device.id);
        await change.objectStore('devices').put(known ? { ...known, ...device, counted: known.counted } : device);
        await change.objectStore('settings').put(device.id, 'current');
        await change.objectStore('members').clear();
        await change.done;
      }),
    learn: (id, what) =>
      within(async (db) => {
        const change = db.transaction('devices', 'readwrite');
        const device = await change.store.get(id);
        if (device) await change.store.put({ ...device, ...what });
        await change.done;
      }),
    add: (asked, { key, at }) =>
      within(async (db, late) => {
        const change = db.transaction(['settings', 'devices', 'taps'], 'readwrite', { durability: 'strict' });
        // The screen says "not noted" for a tap that fails or comes too late, so it must not be stored.
        const withdraw = () => {
          try {
            change.abort();
          } catch {
            // It has ended: the repetition finds the tap if it was stored.
          }
        };
        late.addEventListener('abort', withdraw);
        try {
          const taps = change.objectStore('taps');
          const there = await taps.index('key').get(key);
          if (there) return there;
          const id = await change.objectStore('settings').get('current');
          const device = id === undefined ? undefined : await change.objectStore('devices').get(id);
          if (!device) throw new Error('No device is connected.');
          const sequence = device.counted + 1;
          const occurredAt = new Date(at + device.aheadMs).toISOString();
          // The database chooses the id.
          const row = { ...asked, device: device.id, sequence, key, at, occurredAt, state: 'waiting' } as Tap;
          await change.objectStore('devices').put({ ...device, counted: sequence });
          const given = await taps.add(row);
          await change.done;
          return { ...row, id: given };
        } catch (error) {
          change.done.catch(() => undefined);
          withdraw();
          throw error;
        }
      }),
    taps: () => within((db) => db.getAll('taps')),
    waiting: () => within((db) => db.getAllFromIndex('taps', 'state', 'waiting')),
    markTried: (id) =>
      within(async (db) => {
        const change = db.transaction('taps', 'readwrite');
        const tap = await change.store.get(id);
        if (tap && !tap.isTried) await change.store.put({ ...tap, isTried: true });
        await change.done;
      }),
    settle: (id, state) =>
      within(async (db) => {
        const change = db.transaction('taps', 'readwrite');
        const tap = await change.store.get(id);
        if (tap?.state === 'waiting') await change.store.put({ ...tap, ...state });
        await change.done;
      }),
    dismiss: (id) =>
      within(async (db) => {
        const change = db.transaction('taps', 'readwrite');
        const tap = await change.store.get(id);
        if (tap) await change.store.put({ ...tap, dismissed: true });
        await change.done;
      }),
    known: (code) => within((db) => db.get('members', code)),
    remember: (codes, known) =>
      within(async (db) => {
        const change = db.transaction(['taps', 'members'], 'readwrite');
        const waiting = await change.objectStore('taps').index('state').getAll('waiting');
        const tried = waiting.filter(({ code, isTried }) => isTried && code === known.member.memberCode);
        const members = change.objectStore('members');
        const before = await members.get(known.member.memberCode);
        const revision = (before?.revision ?? 0) + 1;
        const kept: Known = { ...known, sent: tried.map(({ id }) => id), revision };
        await Promise.all([...codes.map((code) => members.put({ ...kept, code })), change.done]);
        return kept;
      }),
    forgetMembers: () => within((db) => db.clear('members')),
    tidy: (before) =>
      within(async (db) => {
        const change = db.transaction(['taps', 'members'], 'readwrite');
        const [taps, members] = [change.objectStore('taps'), change.objectStore('members')];
        for (const { id, at, state, dismissed } of await taps.getAll())
          if (at < before.taps && (state === 'sent' || dismissed)) await taps.delete(id);
        for (const { code, at } of await members.getAll()) if (at < before.members) await members.delete(code);
        await change.done;
      }),
    close() {
      opening?.then((db) => db.close()).catch(() => undefined);
      forget();
    },
  };
}
