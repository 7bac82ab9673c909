// A real webhook server with a configurable behaviour (responder). It records every request before it answers.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Certificate } from './certificates.js';

export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The raw bytes. */
  body: Buffer;
  at: Date;
}

export type Responder = (request: Received, answer: ServerResponse) => void;

export interface ReceiverOptions {
  /** Default: 127.0.0.1. */
  host?: string;
  /** Default: a free port. With a fixed port a receiver can be started again at the same address. */
  port?: number;
  /** With a certificate the receiver speaks https. */
  certificate?: Certificate;
}

export interface Receiver {
  url: string;
  port: number;
  requests: Received[];
  /** Number of TCP connections accepted so far. */
  accepted(): number;
  /** Number of TCP connections that are open now. */
  open(): number;
  /** Number of requests that are neither answered in full nor aborted by their sender. */
  underWay(): number;
  setResponder(responder: Responder): void;
  /** Resolves when the requests so far satisfy `predicate`; throws after `ms`. */
  waitFor(predicate: (requests: readonly Received[]) => boolean, ms?: number): Promise<void>;
  /** Resets all connections, as when the process is killed. */
  stop(): Promise<void>;
}

function inVain(predicate: unknown, ms: number, requests: readonly Received[]): string {
  const came = requests
    .slice(-5)
    .map(({ path, headers, body }) => `    ${path} ${headers['webhook-id'] ?? ''} ${body}`);
  return [`Waited ${ms} ms for ${predicate}.`, `  ${requests.length} requests came, at last:`, ...came].join('\n');
}

export async function startReceiver(
  responder: Responder = (_request, answer) => answer.writeHead(204).end(),
  { host = '127.0.0.1', port = 0, certificate }: ReceiverOptions = {},
): Promise<Receiver> {
  const requests: Received[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let accepted = 0;
  let underWay = 0;
  let current = responder;

  const server = certificate ? createTlsServer({ cert: certificate.cert, key: certificate.key }) : createServer();
  server.on('request', async (request, answer) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const received: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks),
      at: new Date(),
    };
    requests.push(received);
    underWay += 1;
    answer.on('close', () => {
      underWay -= 1;
    });
    for (const check of waiting) check();
    current(received, answer);
  });
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });

  const bound = (server.address() as AddressInfo).port;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${certificate ? 'https' : 'http'}://${shownHost}:${bound}/hook`,
    port: bound,
    requests,
    accepted: () => accepted,
    open: () => sockets.size,
    underWay: () => underWay,
    setResponder(next) {
      current = next;
    },
    waitFor(predicate, ms = 120_000) {
      return new Promise((resolve, reject) => {
        const end = (error?: Error) => {
          clearTimeout(timer);
          waiting.delete(check);
          if (error) reject(error);
          else resolve();
        };
        const check = () => {
          if (predicate(requests)) end();
        };
        const timer = setTimeout(() => end(new Error(inVain(predicate, ms, requests))), ms);
        waiting.add(check);
        check();
      });
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
  };
}
