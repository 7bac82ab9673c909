// A virtual Google wallet that saves one pass and prints it each time it changes.
import { z } from 'zod';
import type { AddPass } from './add.js';
import { drawCard, moment } from './screen.js';
import { controlUrl, readKept } from './standIns.js';

const card = z.object({
  label: z.string(),
  balance: z.string(),
  secondary: z.string().nullable(),
  state: z.string(),
  accountName: z.string().nullable(),
  barcode: z.string(),
  messages: z.array(z.object({ body: z.string() })),
  notices: z.array(z.object({ text: z.string() })),
});

const pollMs = 500;

export async function savePass({ passUrl, stackDir, say, signal }: AddPass): Promise<void> {
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

function draw({
  label,
  balance,
  secondary,
  state,
  accountName,
  barcode,
  messages,
  notices,
}: z.infer<typeof card>): string {
  const notice = notices.at(-1)?.text;
  const drawn = drawCard({
    title: accountName ?? 'Google Wallet',
    lines: [[label, balance], ...(secondary === null ? [] : [['', secondary] as [string, string]])],
    code: barcode,
    message: messages.at(-1)?.body,
    voided: state !== 'ACTIVE',
  });
  return notice === undefined ? drawn : `${drawn}\n  on the lock screen: ${notice}`;
}
