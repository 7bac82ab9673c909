// A proxy in front of the service that fails as networks and gateways do. Each call fails a few times, in another way
// each time, and passes then. Attempts of one call share a key or, without one, the method and the address.
import type { ServerResponse } from 'node:http';
import { type Received, type Receiver, startReceiver } from './receiver.js';

export type Fault = 'limited' | 'away' | 'away after it' | 'dropped' | 'dropped after it' | 'cut';

/** Those after which the change cannot have been applied. */
const harmless: readonly Fault[] = ['limited'];
const faults: readonly Fault[] = ['away after it', 'dropped', 'limited', 'cut', 'away', 'dropped after it'];

const refusal = (code: string) => JSON.stringify({ success: false, error: { code, message: code } });
const json = { 'Content-Type': 'application/json', 'Retry-After': '0' };

export interface FaultyProxy extends Pick<Receiver, 'url' | 'requests' | 'stop'> {
  /** How often each fault has happened. */
  seen: Map<Fault, number>;
}

export async function startFaultyProxy(target: string, { failures = 2 } = {}): Promise<FaultyProxy> {
  const attempts = new Map<string, number>();
  const seen = new Map<Fault, number>();
  let next = 0;

  function faultOf({ method, path, headers }: Received): Fault | undefined {
    const key = headers['idempotency-key'];
    const call = `${method} ${path} ${key}`;
    const attempt = (attempts.get(call) ?? 0) + 1;
    attempts.set(call, attempt);
    if (attempt > failures) {
      attempts.delete(call);
      return undefined;
    }
    const list = key || method === 'GET' ? faults : harmless;
    const fault = list[next++ % list.length];
    if (fault) seen.set(fault, (seen.get(fault) ?? 0) + 1);
    return fault;
  }

  async function respond(request: Received, answer: ServerResponse): Promise<void> {
    const fault = faultOf(request);
    if (fault === 'limited') return void answer.writeHead(429, json).end(refusal('RATE_LIMITED'));
    if (fault === 'away') return void answer.writeHead(503, json).end(refusal('UNAVAILABLE'));
    if (fault === 'dropped') return void answer.destroy();
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const response = await fetch(`${target}${request.path}`, {
      method: request.method,
      headers: headers as Record<string, string>,
      ...(request.body.length > 0 && { body: new Uint8Array(request.body) }),
    });
    const body = Buffer.from(await response.arrayBuffer());
    if (fault === 'away after it') return void answer.writeHead(503, json).end(refusal('UNAVAILABLE'));
    if (fault === 'dropped after it') return void answer.destroy();
    const {
      'content-encoding': encoding,
      'transfer-encoding': transfer,
      ...given
    } = Object.fromEntries(response.headers);
    answer.writeHead(response.status, { ...given, 'content-length': String(body.length) });
    if (fault !== 'cut') return void answer.end(body);
    answer.write(body.subarray(0, body.length / 2), () => answer.destroy());
  }

  const receiver = await startReceiver((request, answer) => {
    respond(request, answer).catch(() => answer.destroy());
  });
  return { url: `http://127.0.0.1:${receiver.port}`, requests: receiver.requests, stop: receiver.stop, seen };
}
