// A virtual iPhone that adds one pass and prints each push, each request and each new version until it is stopped.
// Started again it has the same identity. When passes are in stub mode it follows the web card instead.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { System } from '../../../console/parts/faces.js';
import { replaceFile } from '../../../stack/stackFile.js';
import type { ViewShown } from '../checks/shownView.js';
import { createVirtualIphone, newIdentity } from '../standins/virtualIphone.js';
import { drawCard, moment, ofApple } from './screen.js';
import { controlUrl, readKept } from './standIns.js';

export interface AddPass {
  passUrl: string;
  /** Of a virtual iPhone. */
  system: System;
  stackDir: string;
  say: (line: string) => void;
  /** Stops the phone. */
  signal: AbortSignal;
}

const identity = z.object({ deviceLibraryIdentifier: z.string(), pushToken: z.string() });

function keptIdentity(stackDir: string): z.infer<typeof identity> {
  const file = join(stackDir, 'wallets', 'phone.json');
  try {
    return identity.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    const made = newIdentity();
    replaceFile(file, JSON.stringify(made));
    return made;
  }
}

/** Throws with one sentence for the user when the address is not that of a card. */
export async function addPass(add: AddPass): Promise<void> {
  const passUrl = add.passUrl.replace(/(?:\.pkpass|\?.*)$/, '');
  const card = await fetch(`${passUrl}.json`, { signal: add.signal }).catch(() => undefined);
  if (!card?.ok) throw new Error(`${passUrl} is not the address of a card here: give a member's apple.passUrl.`);
  const pass = await fetch(`${passUrl}.pkpass`, { signal: add.signal });
  if (pass.status === 404) return followCard({ ...add, passUrl });
  const kept = readKept(add.stackDir);
  if (!kept) throw new Error('Start `npm run phone -- wallets` first, and the stack with what it says.');
  await keepPass({ ...add, passUrl }, Buffer.from(await pass.arrayBuffer()), {
    control: controlUrl(kept),
    wwdrCert: kept.certificates.wwdrCert,
  });
}

async function keepPass(
  { system, stackDir, say, signal }: AddPass,
  bytes: Buffer,
  { control, wwdrCert }: { control: string; wwdrCert: string },
): Promise<void> {
  const listeners: Promise<void>[] = [];
  const phone = createVirtualIphone({
    ...{ wwdrCert, system },
    identity: keptIdentity(stackDir),
    apns: {
      listen(pushToken, onPush) {
        const stop = new AbortController();
        const hear = (topic: string) => {
          say(`${moment()}  push for ${topic}`);
          onPush(topic);
        };
        listeners.push(hearPushes(`${control}/pushes/${pushToken}`, hear, AbortSignal.any([signal, stop.signal])));
        return () => stop.abort();
      },
    },
    onRequest: ({ method, url, status }) =>
      say(`${moment()}  ${method} ${new URL(url).pathname.replace('/wallet/apple/v1/', '')} ${status || 'no answer'}`),
    onView: (view) => say(drawView(view)),
  });
  await phone.install(bytes);
  say(`${moment()}  registered; waiting for pushes (Ctrl-C switches the phone off, the pass stays on it)`);
  await Promise.all(listeners);
}

/** Resolves when the phone is stopped. Throws when the stand-ins are not running or end. */
async function hearPushes(url: string, hear: (topic: string) => void, signal: AbortSignal): Promise<void> {
  try {
    const response = await fetch(url, { signal });
    if (!response.body) return;
    const lines = createInterface({ input: Readable.fromWeb(response.body) });
    for await (const topic of lines) if (topic !== '') hear(topic);
  } catch (error) {
    if (!signal.aborted)
      throw new Error('The local APNs is not there: start `npm run phone -- wallets`.', { cause: error });
  }
}

function drawView({ face, message, lockScreen, voided }: ViewShown): string {
  const notice = lockScreen === undefined ? '' : `\n  on the lock screen: ${lockScreen}`;
  return `${drawCard({ ...ofApple(face, voided), message })}${notice}`;
}

const cardState = z.object({
  balance: z.number(),
  unit: z.string(),
  reward: z.string(),
  goal: z.number().nullable(),
  tier: z.string().nullable(),
  status: z.string(),
  message: z.string().nullable(),
  version: z.number(),
});

const pollMs = 1_000;

async function followCard({ passUrl, say, signal }: AddPass): Promise<void> {
  say('Passes are stub here (no wallet credentials), so this follows the web card instead.');
  let version = -1;
  while (!signal.aborted) {
    const answer = await fetch(`${passUrl}.json`, { signal }).catch(() => undefined);
    const state = answer?.ok ? cardState.parse(await answer.json()) : undefined;
    if (state && state.version !== version) {
      version = state.version;
      const { balance, unit, goal, reward, tier, status, message } = state;
      const lines: [string, string][] = [
        [unit, String(balance)],
        ...(tier ? [['TIER', tier] as [string, string]] : []),
        ...(goal === null ? [] : [[`REWARD AT ${goal}`, reward] as [string, string]]),
      ];
      say(
        `${moment()}\n${drawCard({ title: 'Web card', lines, message: message ?? undefined, voided: status !== 'active' })}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
