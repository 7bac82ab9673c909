// The demo's live desk: two virtual phones in a separate process, which hold the cards of any members of the demo's
// merchant, and a log of every hop of a change. The console receives both by server-sent events. The phones need
// wallets, which the demo does not have at first: the desk starts stand-ins of Apple and Google and gives their
// settings to the supervisor, from which worker and API take them while they run.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Hop, Step } from '../../../console/hops.js';
import { answerOrder } from '../../../stack/cafe/orders.js';
import { readStackFile, type StackFile } from '../../../stack/stackFile.js';
import { until } from '../../../stack/until.js';
import type { PassJson } from '../checks/pkpass.js';
import type { VirtualCard } from '../standins/virtualGoogleWallet.js';
import { createChanges } from './changes.js';
import { createMails } from './mails.js';
import type { StandIns } from './standIns.js';

const settings = z
  .object({ STACK_DIR: z.string(), LIVE_DESK_URL: z.url(), PUBLIC_URL: z.url(), MAIL_FOLDER: z.string().optional() })
  .parse(process.env);
const stackDir = settings.STACK_DIR;
const { port, host } = new URL(settings.LIVE_DESK_URL);
const { origin } = new URL(settings.PUBLIC_URL);
/** The user may have typed another name of this machine. */
const asLocalhost = (address: string): string => address.replace('127.0.0.1:', 'localhost:');
const consoleOrigins = [origin, asLocalhost(origin)];
const ownHosts = [host, asLocalhost(host)];

/** Real wallets of the user are exchanged for stand-ins only on request. */
const hasOwnWallets = ['APPLE_PASS_TYPE_ID', 'GOOGLE_WALLET_ISSUER_ID'].some((name) => Boolean(process.env[name]));

type Noted = Omit<Hop, 'id'>;

/** The image files of a card by name, in base64. */
type Pictures = Record<string, string>;

interface Held {
  memberId: string;
  name: string;
  pictures: Pictures;
  lockScreen: string | undefined;
}

interface Phones {
  iphone: (Held & { pass: PassJson; isOffline: boolean }) | null;
  android: (Held & { pass: VirtualCard['pass'] }) | null;
}

const keptHops = 200;
const pollMs = 100;
const mailPollMs = 500;
const takenPollMs = 100;
const takenWithinMs = 60_000;
const callWithinMs = 5_000;
const log: Hop[] = [];
const phones: Phones = { iphone: null, android: null };
const followers = new Set<ServerResponse>();
let wallets: StandIns | undefined;
let starting: Promise<void> | undefined;
let iphone: import('../standins/virtualIphone.js').VirtualIphone | undefined;
let saved: { objectId: string; card: VirtualCard } | undefined;
let hops = 0;

const state = () => ({ wallets: wallets !== undefined, hasOwnWallets, phones });
const event = (type: string, data: unknown) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const tell = (type: string, data: unknown) => {
  for (const follower of followers) follower.write(event(type, data));
};

function append(hop: Noted): void {
  hops += 1;
  const noted = { ...hop, id: hops };
  log.push(noted);
  if (log.length > keptHops) log.shift();
  tell('hop', noted);
}

const note = (who: Hop['who'], what: Hop['what'], more: Partial<Noted> = {}): void =>
  append({ at: Date.now(), who, what, ...more });

const answered = z.object({ data: z.unknown() });

const changes = createChanges({
  append,
  async read(memberId, path) {
    const { baseUrl, demo } = readStackFile(stackDir) ?? stackIsDown();
    const answer = await fetch(`${baseUrl}/merchants/me/members/${memberId}${path}`, {
      headers: { 'X-API-Key': demo.apiKey },
      signal: AbortSignal.timeout(callWithinMs),
    });
    return answered.parse(await answer.json()).data;
  },
});

function stackIsDown(): never {
  throw new Error('The stack is not running.');
}

const modes = z.object({
  wallets: z.object({ apple: z.object({ mode: z.string() }), google: z.object({ mode: z.string() }) }),
});

async function hasWallets({ baseUrl }: StackFile): Promise<boolean> {
  const { success, data } = modes.safeParse(await (await fetch(new URL('/readyz', baseUrl))).json());
  return success && data.wallets.apple.mode === 'real' && data.wallets.google.mode === 'real';
}

function giveWallets(): Promise<void> {
  starting ??= startWallets().catch((error: unknown) => {
    starting = undefined;
    throw error;
  });
  return starting;
}

async function startWallets(): Promise<void> {
  const { startStandIns } = await import('./standIns.js');
  const standIns = await startStandIns({ stackDir, say: () => undefined });
  process.send?.({ wallets: standIns.env });
  note('desk', 'starting');
  const stack = readStackFile(stackDir) ?? stackIsDown();
  await until(() => hasWallets(stack), takenPollMs, AbortSignal.timeout(takenWithinMs));
  wallets = standIns;
  note('desk', 'ready');
  tell('state', state());
}

function stepOf(path: string): Step {
  const [, call] = path.split('/wallet/apple/v1/');
  if (call === undefined) return 'add';
  if (call.startsWith('passes/')) return 'fetch';
  return call.split('/').length === 4 ? 'list' : 'register';
}

/** The card shows only the largest size of a picture. */
const pictureName = /^(icon|logo|strip|artwork|primaryLogo)(?:@([23])x)?\.png$/;
const picturesOf = (files: ReadonlyMap<string, Buffer>): Pictures =>
  Object.fromEntries(
    [...files]
      .filter(([name]) => pictureName.test(name))
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, bytes]) => [name.replace(pictureName, '$1.png'), bytes.toString('base64')]),
  );

interface Card {
  memberId: string;
  name: string;
  passUrl: string;
}

function noteAdded(who: 'iphone' | 'android', { memberId, name }: Card): void {
  append({ at: Date.now(), who, what: 'added', memberId, name });
  changes.added(memberId);
}

async function addToIphone(card: Card): Promise<void> {
  if (!wallets) throw new Error('There are no phones yet.');
  const { createVirtualIphone } = await import('../standins/virtualIphone.js');
  iphone?.close();
  const { memberId, name } = card;
  const { apns, wwdrCert } = wallets;
  noteAdded('iphone', card);
  const phone = createVirtualIphone({
    wwdrCert,
    apns: {
      listen: (pushToken, onPush) =>
        apns.listen(pushToken, (topic) => {
          note('apns', 'push', { memberId });
          if (phones.iphone) void changes.look(phones.iphone, true);
          onPush(topic);
        }),
    },
    onRequest({ method, url, status }) {
      note('iphone', stepOf(new URL(url).pathname), { memberId, detail: `${method} ${status || 'no answer'}` });
    },
    onView({ json, lockScreen, balance, label }, files) {
      // A phone that has got another card since shows nothing any more.
      if (iphone !== phone) return;
      const isOffline = phones.iphone?.memberId === memberId && phones.iphone.isOffline;
      phones.iphone = { memberId, name, pass: json, pictures: picturesOf(files), lockScreen, isOffline };
      note('iphone', 'face', { memberId, detail: `${label}: ${balance}`, ...(lockScreen && { lockScreen }) });
      tell('state', state());
    },
  });
  iphone = phone;
  await phone.install(new URL(`${card.passUrl}.pkpass`));
}

const linked = z.object({ programLogo: z.object({ sourceUri: z.object({ uri: z.url() }) }) });

/** Fetches the logo from the address in the program's class, as Google does. */
async function logoOf(pass: VirtualCard['pass']): Promise<Pictures> {
  const found = linked.safeParse(pass.class);
  if (!found.success) return {};
  const answer = await fetch(found.data.programLogo.sourceUri.uri, { signal: AbortSignal.timeout(callWithinMs) });
  return answer.ok ? { 'logo.png': Buffer.from(await answer.arrayBuffer()).toString('base64') } : {};
}

async function addToAndroid({ saveUrl, ...added }: Card & { saveUrl: string }): Promise<void> {
  if (!wallets) throw new Error('There are no phones yet.');
  noteAdded('android', added);
  const { memberId, name } = added;
  const { objectId } = await wallets.customer.save(saveUrl);
  const card = wallets.customer.card(objectId);
  const pictures = await logoOf(card.pass).catch(() => ({}));
  saved = { objectId, card };
  phones.android = { memberId, name, pass: card.pass, pictures, lockScreen: undefined };
  note('android', 'saved', { memberId });
  note('android', 'face', { memberId, detail: `${card.label}: ${card.balance}` });
  tell('state', state());
}

/** Google's stand-in runs in this process, so polling it is free and sends no request. */
setInterval(() => void followAndroid(), pollMs).unref();

/** Google also changes what nobody sees, such as who has the card. */
const faceOf = ({ pass: _, ...shown }: VirtualCard): string => JSON.stringify(shown);

async function followAndroid(): Promise<void> {
  const [before, shown] = [saved, phones.android];
  if (!wallets || !before || !shown) return;
  const card = wallets.customer.card(before.objectId);
  if (JSON.stringify(card) === JSON.stringify(before.card)) return;
  saved = { ...before, card };
  const isNoticed = card.notices.length > before.card.notices.length;
  const lockScreen = isNoticed ? card.notices.at(-1)?.text : shown.lockScreen;
  // The service sends a message without a notice only when the notices of the day are used up.
  const isSilent = card.messages.length > before.card.messages.length && card.messages.at(-1)?.messageType === 'TEXT';
  const { memberId } = shown;
  if (faceOf(card) !== faceOf(before.card)) {
    const shows = { memberId, detail: `${card.label}: ${card.balance}` };
    note('android', 'face', {
      ...shows,
      ...(isNoticed && lockScreen && { lockScreen }),
      ...(isSilent && { isSilent }),
    });
    void changes.look(shown, true);
  }
  phones.android = { ...shown, pass: card.pass, lockScreen };
  tell('state', state());
  // A new design may have another logo.
  const isSameClass = JSON.stringify(card.pass.class) === JSON.stringify(before.card.pass.class);
  const pictures = isSameClass ? shown.pictures : await logoOf(card.pass).catch(() => shown.pictures);
  if (phones.android?.memberId !== memberId || isSameClass) return;
  phones.android = { ...phones.android, pictures };
  tell('state', state());
}

const mails = settings.MAIL_FOLDER === undefined ? undefined : createMails(settings.MAIL_FOLDER);

async function followMails(): Promise<void> {
  for (const { name, at, subject } of (await mails?.newMails()) ?? [])
    append({ at, who: 'mail', what: 'mail', detail: subject, mail: name });
  setTimeout(followMails, mailPollMs).unref();
}
if (mails) void followMails();

async function setFlightMode(isOn: boolean): Promise<void> {
  if (!iphone || !phones.iphone) throw new Error('There is no card on this phone yet.');
  const { memberId } = phones.iphone;
  phones.iphone.isOffline = isOn;
  note('iphone', isOn ? 'flightOn' : 'flightOff', { memberId });
  tell('state', state());
  if (isOn) iphone.goOffline();
  else await iphone.goOnline();
}

function kill(name: 'worker' | 'temporal'): void {
  const pid = readStackFile(stackDir)?.pids[name];
  if (pid === undefined) throw new Error(`${name} is not a process of this stack.`);
  process.kill(pid, 'SIGKILL');
  note('desk', 'killed', { detail: name });
}

/** Somebody has just changed these cards: the log has the change before a phone hears of it. */
function look(memberIds: readonly string[]): void {
  const held = new Map([phones.iphone, phones.android].flatMap((one) => (one ? [[one.memberId, one] as const] : [])));
  for (const one of held.values()) if (memberIds.includes(one.memberId)) void changes.look(one);
}

const card = { memberId: z.string(), name: z.string(), passUrl: z.url() };
const order = z.discriminatedUnion('do', [
  z.object({ do: z.literal('wallets') }),
  z.object({ do: z.literal('iphone'), ...card }),
  z.object({ do: z.literal('android'), ...card, saveUrl: z.url() }),
  z.object({ do: z.literal('look'), memberIds: z.array(z.string()) }),
  z.object({ do: z.literal('flight'), on: z.boolean() }),
  z.object({ do: z.literal('kill'), name: z.enum(['worker', 'temporal']) }),
]);

async function carryOut(given: z.infer<typeof order>): Promise<void> {
  if (given.do === 'wallets') await giveWallets();
  else if (given.do === 'iphone') await addToIphone(given);
  else if (given.do === 'android') await addToAndroid(given);
  else if (given.do === 'look') look(given.memberIds);
  else if (given.do === 'flight') await setFlightMode(given.on);
  else kill(given.name);
}

const session = z.object({
  data: z.object({ merchant: z.object({ id: z.string() }), roleIds: z.array(z.string()) }),
});

/**
 * Whether the session of the request is an owner's of the demo's merchant. Browsers send the cookie of the console to
 * every port of a host.
 */
async function isOwner({ headers: { cookie = '' } }: IncomingMessage): Promise<boolean> {
  const { baseUrl, demo } = readStackFile(stackDir) ?? stackIsDown();
  const answer = await fetch(`${baseUrl}/auth/session`, {
    headers: { Cookie: cookie },
    signal: AbortSignal.timeout(callWithinMs),
  });
  if (!answer.ok) return false;
  const { merchant, roleIds } = session.parse(await answer.json()).data;
  return merchant.id === demo.merchantId && roleIds.includes('owner');
}

/**
 * Answers only an owner's console: another page in this machine's browser can neither read nor control the desk, nor
 * can somebody else's session, because the mails hold links that sign in as the owner.
 */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (answerOrder(request, response)) return;
  const from = request.headers.origin ?? '';
  const [, mail] = /^\/mails\/([^/]+)$/.exec(request.url ?? '') ?? [];
  const isHere = ownHosts.includes(request.headers.host ?? '');
  if (!isHere || !(await isOwner(request))) return void response.writeHead(403).end();
  // A link to a mail is followed without an origin.
  if (mail !== undefined && request.method === 'GET' && mails) return mails.answer(mail, response);
  if (!consoleOrigins.includes(from)) return void response.writeHead(403).end();
  response.setHeader('Access-Control-Allow-Origin', from);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    response.write(event('state', state()) + log.map((hop) => event('hop', hop)).join(''));
    followers.add(response);
    response.on('close', () => followers.delete(response));
    return;
  }
  try {
    await carryOut(order.parse(JSON.parse(await text(request))));
    response.writeHead(204).end();
  } catch (error) {
    response
      .writeHead(400, { 'Content-Type': 'text/plain' })
      .end(error instanceof Error ? error.message : String(error));
  }
}

const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
server.listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(signal, () => process.exit(0));
