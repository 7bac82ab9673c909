// The smallest web service that follows Apple's specification. It checks the virtual iPhone: behaviour of the phone
// against this service comes from Apple's protocol, not from this project's implementation.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ApplePassView } from '../../../schemas/wallets/apple/pass.view.js';

export interface TinyWalletService {
  origin: string;
  logs: string[];
  issue(): string;
  pass(serialNumber: string): Buffer;
  change(serialNumber: string, next: Partial<ApplePassView>): void;
  pushTokens(serialNumber: string): string[];
  /** From now on a list for any tag contains all passes. */
  forgetTags(): void;
  /** Answers the next calls with 500, except calls of the log route. */
  failNext(calls: number): void;
  close(): Promise<void>;
}

interface Issued {
  view: ApplePassView;
  version: number;
  lastModified: number;
  registrations: Map<string, string>;
}

/** Apple's five routes on a map. The tag is a counter, and Last-Modified grows by one second with each version. */
export async function startTinyWalletService(build: (view: ApplePassView) => Buffer): Promise<TinyWalletService> {
  const issued = new Map<string, Issued>();
  const logs: string[] = [];
  let clock = 0;
  let failing = 0;
  let isForgetful = false;
  const origin = () => `http://127.0.0.1:${port}`;
  const pass = (serialNumber: string) => build(find(serialNumber).view);
  const find = (serialNumber: string) => {
    const found = issued.get(serialNumber);
    if (found === undefined) throw new Error('no such pass');
    return found;
  };

  const answer = async (
    request: IncomingMessage,
  ): Promise<{ status: number; headers?: Record<string, string>; body?: string | Buffer }> => {
    const url = new URL(request.url ?? '', origin());
    const body = await text(request);
    const pkpass = { 'content-type': 'application/vnd.apple.pkpass' };
    const download = /^\/([^/]+)\.pkpass$/.exec(url.pathname);
    if (download?.[1] !== undefined) return { status: 200, headers: pkpass, body: pass(download[1]) };
    const [, , area = '', device = '', , , serial = ''] = url.pathname.split('/');
    if (area === 'log') {
      logs.push(...JSON.parse(body).logs);
      return { status: 200 };
    }
    if (failing > 0) {
      failing -= 1;
      return { status: 500 };
    }
    if (area === 'devices' && serial === '') {
      const since = isForgetful ? 0 : Number(url.searchParams.get('passesUpdatedSince') ?? 0);
      const serialNumbers = [...issued]
        .filter(([, one]) => one.version > since && one.registrations.has(device))
        .map(([number]) => number);
      if (serialNumbers.length === 0) return { status: 204 };
      return { status: 200, body: JSON.stringify({ serialNumbers, lastUpdated: String(clock) }) };
    }
    const one = find(area === 'devices' ? serial : (url.pathname.split('/').at(-1) ?? ''));
    if (request.headers.authorization !== 'ApplePass an-authentication-token') return { status: 401 };
    if (area === 'passes') {
      const lastModified = new Date(one.lastModified).toUTCString();
      if (request.headers['if-modified-since'] === lastModified) return { status: 304 };
      return {
        status: 200,
        headers: { ...pkpass, 'last-modified': lastModified },
        body: build(one.view),
      };
    }
    if (request.method === 'DELETE') one.registrations.delete(device);
    else one.registrations.set(device, JSON.parse(body).pushToken);
    return { status: request.method === 'DELETE' ? 200 : 201 };
  };

  const http = createServer((request, response) => {
    answer(request).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      () => response.writeHead(404).end(),
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address: string | AddressInfo | null = http.address();
  const port = typeof address === 'object' ? address?.port : 0;

  return {
    origin: origin(),
    logs,
    pass,
    issue() {
      const serialNumber = crypto.randomUUID();
      const view: ApplePassView = {
        serialNumber,
        authenticationToken: 'an-authentication-token',
        memberCode: '0123456789',
        barcode: '0123456789',
        label: 'POINTS',
        balance: 0,
        goal: 100,
        status: 'active',
        messageSequence: 0,
        webServiceURL: origin(),
        updatedAt: new Date(),
      };
      issued.set(serialNumber, { view, version: clock, lastModified: Date.now(), registrations: new Map() });
      return serialNumber;
    },
    change(serialNumber, next) {
      const one = find(serialNumber);
      clock += 1;
      one.view = { ...one.view, ...next };
      one.version = clock;
      one.lastModified = Math.max(Date.now(), one.lastModified + 1000);
    },
    pushTokens: (serialNumber) => [...find(serialNumber).registrations.values()],
    forgetTags: () => {
      isForgetful = true;
    },
    failNext: (calls) => {
      failing = calls;
    },
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}
