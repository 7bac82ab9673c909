// The demo's live desk: two virtual phones in a separate process, and a log of every hop of a change. The console
// receives it by server-sent events. The phones need wallets, which the demo does not have at first: the desk starts
// stand-ins of Apple and Google and gives their settings to the supervisor, which restarts worker and API with them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { readStackFile, type StackFile } from '../../stack/stackFile.js';
import { until } from '../../stack/until.js';
import type { PassJson } from '../rig/pkpass.js';
import type { VirtualCard } from '../rig/virtualGoogleWallet.js';
import { createMails } from './mails.js';
import type { StandIns } from './standIns.js';

const settings = z
  .object({ STACK_DIR: z.string(), LIVE_DESK_URL: z.url(), PUBLIC_URL: z.url(), MAIL_FOLDER: z.string().optional() })
  .parse(process.env);
const stackDir = settings.STACK_DIR;
const { port, host } = new URL(settings.LIVE_DESK_URL);
const { origin } = new URL(settings.PUBLIC_URL);
/** The user may have typed another name of this machine. */
const consoleOrigins = [origin, origin.replace('//127.0.0.1:', '//localhost:')];

interface Hop {
  at: number;
  who: 'iphone' | 'android' | 'apns' | 'desk' | 'mail';
  what: string;
  /** The page of the mail is `/mails/<name>`. */
  mail?: string;
}

interface Phones {
  iphone: { passUrl: string; pass: PassJson; lockScreen: string | undefined; isOffline: boolean } | null;
  android: { passUrl: string; card: VirtualCard; lockScreen: string | undefined } | null;
}

const keptHops = 200;
const pollMs = 100;
const mailPollMs = 500;
const restartPollMs = 200;
const restartWithinMs = 60_000;
const log: Hop[] = [];
const phones: Phones = { iphone: null, android: null };
const followers = new Set<ServerResponse>();
let wallets: StandIns | undefined;
let iphone: import('../rig/virtualIphone.js').VirtualIphone | undefined;
let objectId: string | undefined;

const state = () => ({ wallets: wallets !== undefined, phones });
const event = (type: string, data: unknown) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const tell = (type: string, data: unknown) => {
  for (const follower of followers) follower.write(event(type, data));
};

const note = (who: Hop['who'], what: string): void => append({ at: Date.now(), who, what });

function append(hop: Hop): void {
  log.push(hop);
  if (log.length > keptHops) log.shift();
  tell('hop', hop);
}

async function isRestarted({ pids, baseUrl }: StackFile): Promise<boolean> {
  const now = readStackFile(stackDir)?.pids;
  if (!now?.api || !now.worker || now.api === pids.api || now.worker === pids.worker) return false;
  return (await fetch(new URL('/readyz', baseUrl))).ok;
}

async function giveWallets(): Promise<void> {
  if (wallets) return;
  const { startStandIns } = await import('./standIns.js');
  const before = readStackFile(stackDir);
  const standIns = await startStandIns({ stackDir, say: () => undefined });
  process.send?.({ wallets: standIns.env });
  note('desk', 'local stand-ins of APNs and Google are up; worker and API start again with them');
  if (before) await until(() => isRestarted(before), restartPollMs, AbortSignal.timeout(restartWithinMs));
  wallets = standIns;
  note('desk', 'worker and API have wallets');
  tell('state', state());
}

function kindOf(path: string): string {
  const [, call] = path.split('/wallet/apple/v1/');
  if (call === undefined) return 'add';
  if (call.startsWith('passes/')) return 'fetch';
  return call.split('/').length === 4 ? 'list' : 'register';
}

async function addToIphone(passUrl: string): Promise<void> {
  if (!wallets) throw new Error('There are no wallets yet.');
  const { createVirtualIphone } = await import('../rig/virtualIphone.js');
  iphone?.close();
  const { apns, wwdrCert } = wallets;
  iphone = createVirtualIphone({
    wwdrCert,
    apns: {
      listen: (pushToken, onPush) =>
        apns.listen(pushToken, (topic) => {
          note('apns', 'push');
          onPush(topic);
        }),
    },
    onRequest({ method, url, status }) {
      note('iphone', `${kindOf(new URL(url).pathname)} (${method} ${status || 'no answer'})`);
    },
    onView({ json, lockScreen, balance, label }) {
      const isOffline = phones.iphone?.isOffline ?? false;
      phones.iphone = { passUrl, pass: json, lockScreen, isOffline };
      note('iphone', `new face: ${label} ${balance}${lockScreen ? `, lock screen: ${lockScreen}` : ''}`);
      tell('state', state());
    },
  });
  await iphone.install(new URL(`${passUrl}.pkpass`));
}

async function addToAndroid(passUrl: string, saveUrl: string): Promise<void> {
  if (!wallets) throw new Error('There are no wallets yet.');
  const saved = await wallets.customer.save(saveUrl);
  objectId = saved.objectId;
  phones.android = { passUrl, card: wallets.customer.card(objectId), lockScreen: undefined };
  note('android', 'saved');
  tell('state', state());
}

/** Google's stand-in runs in this process, so polling it is free and sends no request. */
setInterval(() => {
  const shown = phones.android;
  if (!wallets || !objectId || !shown) return;
  const card = wallets.customer.card(objectId);
  if (JSON.stringify(card) === JSON.stringify(shown.card)) return;
  const isNoticed = card.notices.length > shown.card.notices.length;
  const lockScreen = isNoticed ? card.notices.at(-1)?.text : shown.lockScreen;
  phones.android = { ...shown, card, lockScreen };
  note('android', `new face: ${card.label} ${card.balance}${isNoticed ? `, lock screen: ${lockScreen}` : ''}`);
  tell('state', state());
}, pollMs).unref();

const mails = settings.MAIL_FOLDER === undefined ? undefined : createMails(settings.MAIL_FOLDER);

async function followMails(): Promise<void> {
  for (const { name, at, subject } of (await mails?.newMails()) ?? [])
    append({ at, who: 'mail', what: subject, mail: name });
  setTimeout(followMails, mailPollMs).unref();
}
if (mails) void followMails();

async function setFlightMode(isOn: boolean): Promise<void> {
  if (!iphone || !phones.iphone) throw new Error('There is no phone yet.');
  phones.iphone.isOffline = isOn;
  note('iphone', isOn ? 'flight mode on' : 'flight mode off');
  tell('state', state());
  if (isOn) iphone.goOffline();
  else await iphone.goOnline();
}

function kill(name: 'worker' | 'temporal'): void {
  const pid = readStackFile(stackDir)?.pids[name];
  if (pid === undefined) throw new Error(`${name} is not a process of this stack.`);
  process.kill(pid, 'SIGKILL');
  note('desk', `${name} was killed (pid ${pid}); the supervisor starts it again`);
}

const order = z.discriminatedUnion('do', [
  z.object({ do: z.literal('wallets') }),
  z.object({ do: z.literal('iphone'), passUrl: z.url() }),
  z.object({ do: z.literal('android'), passUrl: z.url(), saveUrl: z.url() }),
  z.object({ do: z.literal('flight'), on: z.boolean() }),
  z.object({ do: z.literal('kill'), name: z.enum(['worker', 'temporal']) }),
]);

async function carryOut(given: z.infer<typeof order>): Promise<void> {
  if (given.do === 'wallets') await giveWallets();
  else if (given.do === 'iphone') await addToIphone(given.passUrl);
  else if (given.do === 'android') await addToAndroid(given.passUrl, given.saveUrl);
  else if (given.do === 'flight') await setFlightMode(given.on);
  else kill(given.name);
}

/** Answers only the console: another page in this machine's browser can neither read nor control the desk. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const from = request.headers.origin ?? '';
  const [, mail] = /^\/mails\/([^/]+)$/.exec(request.url ?? '') ?? [];
  // A link to a mail is followed without an origin. Only the log, which the console alone can read, has its name.
  if (mail !== undefined && request.method === 'GET' && request.headers.host === host && mails)
    return mails.answer(mail, response);
  if (!consoleOrigins.includes(from) || request.headers.host !== host) return void response.writeHead(403).end();
  response.setHeader('Access-Control-Allow-Origin', from);
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
