// The bench's receiver and its subscriptions.
import type { Bench } from './bench.js';
import { startChild } from './child.js';
import type { BenchMerchant } from './merchant.js';
import type { ReceiverCount } from './receiverProcess.js';

export interface BenchReceiver {
  url: string;
  hangUrl: string;
  pid: number;
  /** The count since the last call. */
  since: () => Promise<ReceiverCount>;
  stop: () => Promise<void>;
}

export async function startReceiver({ processes }: Pick<Bench, 'processes'>): Promise<BenchReceiver> {
  const { child, ready } = await startChild(processes, 'receiverProcess.ts');
  const origin = `http://127.0.0.1:${ready}`;
  return {
    url: `${origin}/hook`,
    hangUrl: `${origin}/hang`,
    pid: child.pid,
    // The process sends no other answer.
    since: async () => (await child.ask('since')) as ReceiverCount,
    stop: child.stop,
  };
}

/** Returns the subscription's id. */
export async function subscribe(merchant: BenchMerchant, url: string, timeoutMs = 10_000): Promise<string> {
  const body = { url, events: ['*'], timeoutMs };
  return JSON.parse(await merchant.call({ method: 'POST', path: '/merchants/me/webhooks', body })).data.id;
}
