// The result of pushing one change to the wallets: docs/interface.md#26-passupdate.
import { z } from 'zod';

export const walletMode = z.enum(['real', 'stub']);
export type WalletMode = z.infer<typeof walletMode>;
export interface WalletModes {
  apple: WalletMode;
  google: WalletMode;
}

export const platform = z.enum(['apple', 'google']);
export type Platform = z.infer<typeof platform>;

export const passUpdate = z.object({
  serialNumber: z.string(),
  lastUpdateTag: z.string().describe('the version of the pass: a timestamp that only moves forward'),
  rebuilt: z.boolean().describe('true when the signed file was rebuilt; in real mode only'),
  apple: z.object({ devicesNotified: z.int(), devicesAttempted: z.int(), mode: walletMode }),
  google: z.object({ objectPatched: z.boolean(), mode: walletMode }),
});
export type PassUpdate = z.infer<typeof passUpdate>;

/** The tag of the next pass version: a timestamp that increases with each version, even if the clock does not. */
export function nextTag(previous: Date | undefined, now: Date): Date {
  return previous && previous >= now ? new Date(previous.getTime() + 1) : now;
}

/**
 * The Last-Modified of the next pass version. HTTP dates have whole seconds, so it moves forward by at least one second
 * with each version (docs/protocols/apple-wallet.md#2-versions-and-tags).
 */
export function nextModified(previous: Date | undefined, now: Date): Date {
  const floor = Math.floor(now.getTime() / 1000) * 1000;
  return new Date(previous ? Math.max(floor, previous.getTime() + 1000) : floor);
}
