// The receiver of the bench, and subscriptions to it.
import { startChild } from './child.js';
import type { BenchMerchant } from './merchant.js';
import type { ReceiverCount } from './receiverProcess.js';

export interface BenchReceiver {
  url: string;
  hangUrl: string;
  pid: number;
  /** Since the last time it was asked. */
  since: () => Promise<ReceiverCount>;
  stop: () => Promise<void>;
}

export async function startReceiver(): Promise<BenchReceiver> {
  const { child, ready } = await startChild('receiverProcess.ts');
  const origin = `http://127.0.0.1:${ready}`;
  return {
    url: `${origin}/hook`,
    hangUrl: `${origin}/hang`,
    pid: child.pid,
    // The process answers nothing else.
    since: async () => (await child.ask('since')) as ReceiverCount,
    stop: child.stop,
  };
}

/** Answers the subscription's id. */
export async function subscribe(merchant: BenchMerchant, url: string, timeoutMs = 10_000): Promise<string> {
  const body = { url, events: ['*'], timeoutMs };
  return JSON.parse(await merchant.call({ method: 'POST', path: '/merchants/me/webhooks', body })).data.id;
}
