// Keeps one HTTP/2 connection to one origin, with as many concurrent streams as the peer allows. Every request settles
// by its deadline, also when the connection fails. When a connection ends, refuses or no longer answers pings, the next
// request opens a new one. Not undici, apns2 (which uses it) or @parse/node-apn: they open more streams than are
// allowed and lose what was sent before a GOAWAY, and node-apn sends no body for `{}`.
import { type ClientHttp2Session, connect, constants, type SecureClientSessionOptions } from 'node:http2';
import { before, exchange, type Http2Answer, Http2Failure, timeLeft, tooLate } from './http2Exchange.client.js';

export interface Http2Connection {
  /** Settles by `deadline` (milliseconds since the epoch) at the latest. Rejects only with Http2Failure. */
  request(headers: Record<string, string>, body: string, deadline: number): Promise<Http2Answer>;
  /**
   * Gives up the current connection, if any. Its running requests may finish; the next request opens a new connection.
   */
  renew(): void;
  close(): Promise<void>;
}

export interface Http2ConnectionOptions {
  origin: string;
  tls: Pick<SecureClientSessionOptions, 'ca' | 'cert' | 'key'>;
  connectTimeoutMs: number;
  pingIntervalMs: number;
  pingTimeoutMs: number;
  onEvent: (event: 'connected' | 'disconnected', detail: string) => void;
}

interface Live {
  session: ClientHttp2Session;
  open: number;
  waiting: Set<Waiter>;
  isProbed: boolean;
}

interface Waiter {
  start: () => void;
  refuse: () => void;
}

const MAX_STREAMS = 1000;
const CLOSE_WITHIN_MS = 2000;
/**
 * How long a peer may take after GOAWAY to answer the requests that it accepted. Some peers never answer; then the
 * requests are lost, and the caller repeats them on a new connection.
 */
const DRAIN_MS = 250;

export function createHttp2Connection(options: Http2ConnectionOptions): Http2Connection {
  let current: Promise<Live> | undefined;
  let isClosed = false;

  const live = (): Promise<Live> => {
    if (isClosed) return Promise.reject(new Http2Failure('unreachable', 'closed'));
    current ??= open();
    return current;
  };

  const open = (): Promise<Live> => {
    const session = connect(options.origin, options.tls);
    const opened: Live = { session, open: 0, waiting: new Set(), isProbed: false };
    const mine = new Promise<Live>((resolve, reject) => {
      let isReached = false;
      const timer = setTimeout(() => {
        isReached = false;
        retire('connecting took too long');
      }, options.connectTimeoutMs);
      let ping: NodeJS.Timeout | undefined;
      const retire = (reason: string, graceful = false) => {
        clearTimeout(timer);
        clearInterval(ping);
        if (current === mine) {
          current = undefined;
          if (!isClosed) options.onEvent('disconnected', reason);
        }
        reject(new Http2Failure(isReached ? 'lost' : 'unreachable', reason));
        if (graceful) drain(session);
        else session.destroy();
        startWaiting(opened);
      };
      session.once('connect', () => {
        isReached = true;
      });
      // The peer's first SETTINGS frame says how many streams it allows.
      session.once('remoteSettings', () => {
        clearTimeout(timer);
        ping = setInterval(() => probe(opened, options.pingTimeoutMs), options.pingIntervalMs);
        ping.unref();
        options.onEvent('connected', options.origin);
        resolve(opened);
      });
      session.on('remoteSettings', () => startWaiting(opened));
      session.on('goaway', (code) => retire(`GOAWAY ${code}`, code === constants.NGHTTP2_NO_ERROR));
      session.on('error', (error) => retire(error.message));
      session.on('close', () => retire('connection closed'));
    });
    // The requests that wait for this connection get its error. This handler only prevents an unhandled rejection.
    mine.catch(() => undefined);
    return mine;
  };

  return {
    async request(headers, body, deadline) {
      const connection = await before(deadline, live());
      await takeStream(connection, deadline);
      try {
        return await exchange(connection.session, headers, body, deadline);
      } catch (error) {
        if (error instanceof Http2Failure && error.kind === 'timeout') probe(connection, options.pingTimeoutMs);
        throw error;
      } finally {
        connection.open -= 1;
        startWaiting(connection);
      }
    },
    renew() {
      const old = current;
      current = undefined;
      old?.then(({ session }) => drain(session)).catch(() => undefined);
    },
    async close() {
      isClosed = true;
      const last = await current?.catch(() => undefined);
      if (last === undefined || last.session.destroyed) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => last.session.destroy(), CLOSE_WITHIN_MS);
        last.session.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
        last.session.close();
      });
    },
  };
}

function drain(session: ClientHttp2Session): void {
  session.close();
  // Destroyed with an error, because otherwise Node ends the streams as if their answers were complete.
  setTimeout(() => session.destroy(new Error('requests were not answered')), DRAIN_MS).unref();
}

const isOver = ({ session }: Live) => session.closed || session.destroyed;

function hasRoom({ session, open }: Live): boolean {
  return open < Math.min(session.remoteSettings.maxConcurrentStreams ?? MAX_STREAMS, MAX_STREAMS);
}

/**
 * Counts one stream as open as soon as the peer allows one more. Node would queue the other requests in the memory of
 * the session, and end the connection for all of them at about ten thousand.
 */
function takeStream(connection: Live, deadline: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      connection.waiting.delete(waiter);
      reject(tooLate());
    }, timeLeft(deadline));
    const waiter: Waiter = {
      start: () => {
        clearTimeout(timer);
        connection.open += 1;
        resolve();
      },
      refuse: () => {
        clearTimeout(timer);
        reject(new Http2Failure('lost', 'the connection ended'));
      },
    };
    connection.waiting.add(waiter);
    startWaiting(connection);
  });
}

function startWaiting(connection: Live): void {
  for (const waiter of connection.waiting) {
    if (!isOver(connection) && !hasRoom(connection)) return;
    connection.waiting.delete(waiter);
    if (isOver(connection)) waiter.refuse();
    else waiter.start();
  }
}

/**
 * Ends a connection whose peer does not answer a ping in time. Sends only one ping at a time, because peers refuse many
 * pings as a flood.
 */
function probe(connection: Live, timeoutMs: number): void {
  if (isOver(connection) || connection.isProbed) return;
  connection.isProbed = true;
  const { session } = connection;
  const timer = setTimeout(() => session.destroy(new Error('no answer to a ping')), timeoutMs);
  timer.unref();
  session.ping(() => {
    clearTimeout(timer);
    connection.isProbed = false;
  });
}
