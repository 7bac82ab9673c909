// A webhook receiver of a chosen temper: a real server that keeps every request as it came, before it answers.
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

export type Temper = (request: Received, answer: ServerResponse) => void;

export interface ReceiverOptions {
  /** 127.0.0.1 when omitted. */
  host?: string;
  /** A free one when omitted; a fixed one lets a receiver come back where it was. */
  port?: number;
  /** Makes it https. */
  certificate?: Certificate;
}

export interface Receiver {
  url: string;
  port: number;
  requests: Received[];
  /** TCP connections accepted so far. */
  accepted(): number;
  /** TCP connections open now. */
  open(): number;
  /** Requests neither answered in full nor given up by their sender. */
  underWay(): number;
  setTemper(temper: Temper): void;
  /** Answers once the requests so far satisfy `predicate`; throws after `ms`. */
  waitFor(predicate: (requests: readonly Received[]) => boolean, ms?: number): Promise<void>;
  /** As a kill does: every connection is reset. */
  stop(): Promise<void>;
}

export async function startReceiver(
  temper: Temper = (_request, answer) => answer.writeHead(204).end(),
  { host = '127.0.0.1', port = 0, certificate }: ReceiverOptions = {},
): Promise<Receiver> {
  const requests: Received[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let accepted = 0;
  let underWay = 0;
  let current = temper;

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
    setTemper(next) {
      current = next;
    },
    waitFor(predicate, ms = 60_000) {
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
        const timer = setTimeout(() => end(new Error(`Waited ${ms} ms; ${requests.length} requests came.`)), ms);
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
