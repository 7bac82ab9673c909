// Behaves like the Wallet app of an iPhone: accepts only passes that verify, and registers at the pass's web service.
// On a push it asks for the changed passes, fetches those and shows on its lock screen the text of a changed field. It
// knows only the pass and Apple's web service protocol (docs/protocols/apple-wallet.md).
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { System } from '../../../console/parts/faces.js';
import { shownIn } from '../checks/phoneLanguage.js';
import { BrokenPass, openPkpass, type PassJson, type Pkpass } from '../checks/pkpass.js';
import { type ViewShown, viewOf } from '../checks/shownView.js';
import type { ApnsServer } from './apnsServer.js';

export interface PhoneRequest {
  at: Date;
  method: string;
  url: string;
  /** 0 when no answer came. */
  status: number;
}

export interface VirtualIphone {
  deviceLibraryIdentifier: string;
  pushToken(): string;
  /** Adds a pass from its bytes or its address and registers it. Returns what the pass shows. */
  install(source: Buffer | string | URL): Promise<ViewShown>;
  /** All versions of a pass that were shown, oldest first. Without a serial number: those of the only pass. */
  history(serialNumber?: string): readonly ViewShown[];
  serialNumbers(): string[];
  /** Deletes a pass and unregisters it at the service. */
  remove(serialNumber?: string): Promise<void>;
  /** Takes a new push token, as after a restore from a backup, and registers all passes again. */
  rotatePushToken(): Promise<void>;
  /** Asks for changed passes without a push, as a pull on the pass's back does. */
  refresh(): Promise<void>;
  goOffline(): void;
  /** Goes online again. When pushes came while the phone was offline, the phone asks once for changed passes. */
  goOnline(): Promise<void>;
  /** Resolves when no list or fetch is under way. */
  settled(): Promise<void>;
  requests: readonly PhoneRequest[];
  close(): void;
}

export interface VirtualIphoneOptions {
  apns: Pick<ApnsServer, 'listen'>;
  /** PEM of the certificate in which the pass's chain must end; without it the chain's end is not checked. */
  wwdrCert?: string;
  /** Opens and verifies a pass in this process, for many phones at once; by default openssl verifies it. */
  open?: (archive: Buffer) => Pkpass;
  /** The languages that the phone is set to, the first most; English by default. */
  languages?: readonly string[];
  /** Default: the newer one. */
  system?: System;
  /** The identity of an existing phone that is switched on again; by default a new phone. */
  identity?: { deviceLibraryIdentifier: string; pushToken: string };
  fetch?: typeof fetch;
  /** Delays before a failed list or fetch is tried again. */
  retryWaitsMs?: readonly number[];
  /** `files`: the images of the pass and everything else in it, by name. */
  onView?: (view: ViewShown, files: Pkpass['files']) => void;
  onRequest?: (request: PhoneRequest) => void;
}

/** The form of Apple's answer; the phone accepts no other. */
const updatedPasses = z.object({ serialNumbers: z.array(z.string()), lastUpdated: z.string() });

interface Installed {
  json: PassJson;
  lastModified: string | null;
  shown: ViewShown[];
}

export function createVirtualIphone(options: VirtualIphoneOptions): VirtualIphone {
  const { apns, system = 'newer', retryWaitsMs = [100, 400, 1600] } = options;
  const send = options.fetch ?? fetch;
  const open = options.open ?? ((archive: Buffer) => openPkpass(archive, options.wwdrCert));
  const { deviceLibraryIdentifier, pushToken: firstToken } = options.identity ?? newIdentity();
  const installed = new Map<string, Installed>();
  const tags = new Map<string, string>();
  const requests: PhoneRequest[] = [];
  let pushToken = firstToken;
  let isOffline = false;
  let isPushWaiting = false;
  let work: Promise<void> = Promise.resolve();
  let isListDue = false;

  const request = async (method: string, url: string, init: RequestInit = {}): Promise<Response> => {
    const made: PhoneRequest = { at: new Date(), method, url, status: 0 };
    requests.push(made);
    try {
      const response = await send(url, { ...init, method });
      made.status = response.status;
      return response;
    } finally {
      options.onRequest?.(made);
    }
  };

  /**
   * Repeats the request after network failures and 5xx with growing delays, then posts the error to the service's log
   * and gives up.
   */
  const persist = async (
    json: PassJson,
    what: string,
    attempt: () => Promise<Response>,
  ): Promise<Response | undefined> => {
    for (const waitMs of [...retryWaitsMs, undefined]) {
      const response = await attempt().catch(() => undefined);
      if (response !== undefined && response.status < 500) return response;
      if (waitMs === undefined) await complain(json, `${what} failed: ${response?.status ?? 'no answer'}`);
      else await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
    return undefined;
  };

  const complain = async (json: PassJson, message: string): Promise<void> => {
    const logs = [
      `[${new Date().toISOString()}] ${message} (pass type ${json.passTypeIdentifier}, serial ${json.serialNumber})`,
    ];
    const init = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ logs }) };
    await request('POST', `${json.webServiceURL}/v1/log`, init).catch(() => undefined);
  };

  const registration = (json: PassJson) =>
    `${json.webServiceURL}/v1/devices/${deviceLibraryIdentifier}/registrations/${json.passTypeIdentifier}/${json.serialNumber}`;
  const authorization = (json: PassJson) => ({ authorization: `ApplePass ${json.authenticationToken}` });

  const register = async (json: PassJson): Promise<void> => {
    const headers = { ...authorization(json), 'content-type': 'application/json' };
    const body = JSON.stringify({ pushToken });
    const response = await persist(json, 'registering', () => request('POST', registration(json), { headers, body }));
    if (response === undefined || response.status === 200 || response.status === 201) return;
    await complain(json, `registering was answered ${response.status}`);
  };

  const show = (pass: Installed, { json, files }: Pkpass, lastModified: string | null): ViewShown => {
    const shown = shownIn({ json, files }, options.languages);
    const view = viewOf(shown, { system, lastModified, before: pass.shown.at(-1)?.json });
    pass.json = json;
    pass.lastModified = lastModified;
    pass.shown.push(view);
    options.onView?.(view, files);
    return view;
  };

  const fetchPass = async (pass: Installed): Promise<void> => {
    const { json } = pass;
    const since = pass.lastModified === null ? {} : { 'if-modified-since': pass.lastModified };
    const url = `${json.webServiceURL}/v1/passes/${json.passTypeIdentifier}/${json.serialNumber}`;
    const headers = { ...authorization(json), ...since };
    const response = await persist(json, 'fetching', () => request('GET', url, { headers }));
    if (response === undefined || response.status === 304) return;
    if (response.status !== 200) return complain(json, `fetching was answered ${response.status}`);
    try {
      const opened = await open(Buffer.from(await response.arrayBuffer()));
      const isSame =
        opened.json.serialNumber === json.serialNumber && opened.json.authenticationToken === json.authenticationToken;
      if (!isSame) throw new BrokenPass('serial number or authentication token changed');
      show(pass, opened, response.headers.get('last-modified'));
    } catch (error) {
      await complain(json, `the pass is broken: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  /** Requests one list for each web service and pass type, because a phone keeps one update tag for each. */
  const update = async (): Promise<void> => {
    const groups = new Map([...installed.values()].map(({ json }) => [groupOf(json), json]));
    for (const [group, json] of groups) {
      const tag = tags.get(group);
      const query = tag === undefined ? '' : `?passesUpdatedSince=${encodeURIComponent(tag)}`;
      const url = `${json.webServiceURL}/v1/devices/${deviceLibraryIdentifier}/registrations/${json.passTypeIdentifier}${query}`;
      const response = await persist(json, 'listing', () => request('GET', url));
      if (response?.status !== 200) continue;
      const list = updatedPasses.safeParse(await response.json().catch(() => undefined));
      if (!list.success) {
        await complain(json, 'listing was answered in another form');
        continue;
      }
      for (const serialNumber of list.data.serialNumbers) {
        const pass = installed.get(serialNumber);
        if (pass !== undefined) await fetchPass(pass);
      }
      tags.set(group, list.data.lastUpdated);
    }
  };

  const enqueue = (task: () => Promise<void>): Promise<void> => {
    const done = work.then(task);
    work = done.catch(() => undefined);
    return done;
  };

  /** Pushes that arrive while a list is due start no further list, because that list includes their changes. */
  const askWhatChanged = (): Promise<void> => {
    if (isListDue) return work;
    isListDue = true;
    return enqueue(async () => {
      isListDue = false;
      await update();
    });
  };

  const onPush = (topic: string) => {
    if (![...installed.values()].some(({ json }) => json.passTypeIdentifier === topic)) return;
    if (isOffline) isPushWaiting = true;
    else askWhatChanged().catch(() => undefined);
  };
  let stopListening = apns.listen(pushToken, onPush);

  const passOf = (serialNumber?: string): Installed => {
    const pass = serialNumber === undefined ? [...installed.values()][0] : installed.get(serialNumber);
    if (pass === undefined) throw new Error('no such pass on this phone');
    return pass;
  };

  return {
    deviceLibraryIdentifier,
    requests,
    pushToken: () => pushToken,
    serialNumbers: () => [...installed.keys()],
    history: (serialNumber) => passOf(serialNumber).shown,
    async install(source) {
      const response = Buffer.isBuffer(source) ? undefined : await request('GET', String(source));
      if (response !== undefined && response.status !== 200)
        throw new Error(`adding the pass was answered ${response.status}`);
      const bytes = Buffer.isBuffer(source)
        ? source
        : Buffer.from((await response?.arrayBuffer()) ?? new ArrayBuffer(0));
      const opened = await open(bytes);
      const { json } = opened;
      const pass: Installed = { json, lastModified: null, shown: [] };
      const view = show(pass, opened, response?.headers.get('last-modified') ?? null);
      installed.set(json.serialNumber, pass);
      await enqueue(() => register(json));
      return view;
    },
    remove: (serialNumber) =>
      enqueue(async () => {
        const { json } = passOf(serialNumber);
        installed.delete(json.serialNumber);
        await persist(json, 'unregistering', () =>
          request('DELETE', registration(json), { headers: authorization(json) }),
        );
      }),
    rotatePushToken: () =>
      enqueue(async () => {
        stopListening();
        pushToken = randomBytes(32).toString('hex');
        stopListening = apns.listen(pushToken, onPush);
        for (const { json } of installed.values()) await register(json);
      }),
    refresh: () => askWhatChanged(),
    goOffline: () => {
      isOffline = true;
    },
    goOnline: async () => {
      isOffline = false;
      if (!isPushWaiting) return;
      isPushWaiting = false;
      await askWhatChanged();
    },
    async settled() {
      for (let seen: Promise<void> | undefined; seen !== work; ) {
        seen = work;
        await seen;
      }
    },
    close: () => stopListening(),
  };
}

export const newIdentity = () => ({
  deviceLibraryIdentifier: randomBytes(16).toString('hex'),
  pushToken: randomBytes(32).toString('hex'),
});

const groupOf = (json: PassJson) => `${json.webServiceURL} ${json.passTypeIdentifier}`;
