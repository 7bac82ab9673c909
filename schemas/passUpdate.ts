// interface 2.6: what the wallets were told of one change.
import { z } from 'zod';

export const walletMode = z.enum(['real', 'stub']);
export type WalletMode = z.infer<typeof walletMode>;

export const platforms = ['apple', 'google'] as const;
export type Platform = (typeof platforms)[number];

export const passUpdate = z.object({
  serialNumber: z.string(),
  lastUpdateTag: z.string().describe('the version of the pass: a timestamp that only moves forward'),
  rebuilt: z.boolean().describe('true when the signed file was rebuilt; in real mode only'),
  apple: z.object({ devicesNotified: z.int(), devicesAttempted: z.int(), mode: walletMode }),
  google: z.object({ objectPatched: z.boolean(), mode: walletMode }),
});
export type PassUpdate = z.infer<typeof passUpdate>;

/** The tag of the next pass version: a timestamp that always moves forward, whatever the clock does. */
export function nextTag(previous: Date | undefined, now: Date): Date {
  return previous && previous >= now ? new Date(previous.getTime() + 1) : now;
}

/** HTTP dates have whole seconds, so Last-Modified moves by one at least with each version (facts-wallets 4.6). */
export function nextModified(previous: Date | undefined, now: Date): Date {
  const floor = Math.floor(now.getTime() / 1000) * 1000;
  return new Date(previous ? Math.max(floor, previous.getTime() + 1000) : floor);
}
