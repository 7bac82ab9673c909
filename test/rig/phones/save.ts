// A virtual Google wallet that saves one pass and prints it each time it changes.
import { z } from 'zod';
import type { GooglePass } from '../../../console/parts/faces.js';
import type { AddPass } from './add.js';
import { drawCard, moment, ofGoogle } from './screen.js';
import { controlUrl, readKept } from './standIns.js';

const anyFields = z.record(z.string(), z.unknown());
const card = z.object({
  pass: z.object({ class: anyFields, object: anyFields }),
  messages: z.array(z.object({ body: z.string() })),
  notices: z.array(z.object({ text: z.string() })),
});

const pollMs = 500;

export async function savePass({ passUrl, stackDir, say, signal }: Omit<AddPass, 'system'>): Promise<void> {
  const kept = readKept(stackDir);
  if (!kept) throw new Error('Start `npm run phone -- wallets` first, and the stack with what it says.');
  const control = controlUrl(kept);
  const page = await (await fetch(passUrl, { signal })).text();
  const saveUrl = /href="(https:\/\/pay\.google\.com\/gp\/v\/save\/[^"]+)"/.exec(page)?.[1];
  if (!saveUrl) throw new Error(`${passUrl} offers no "Add to Google Wallet": Google is stub there, or it is no card.`);
  const saved = await fetch(`${control}/save`, { method: 'POST', body: saveUrl, signal });
  if (!saved.ok) throw new Error(await saved.text());
  const { objectId } = z.object({ objectId: z.string() }).parse(await saved.json());
  say(`${moment()}  saved ${objectId} (Ctrl-C ends)`);
  let shown = '';
  while (!signal.aborted) {
    const answer = await fetch(`${control}/card/${encodeURIComponent(objectId)}`, { signal }).catch(() => undefined);
    const text = answer?.ok ? await answer.text() : shown;
    if (text !== shown) say(`${moment()}\n${draw(card.parse(JSON.parse(text)))}`);
    shown = text;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function draw({ pass, messages, notices }: z.infer<typeof card>): string {
  const notice = notices.at(-1)?.text;
  const drawn = drawCard({ ...ofGoogle(pass as GooglePass), message: messages.at(-1)?.body });
  return notice === undefined ? drawn : `${drawn}\n  on the lock screen: ${notice}`;
}
