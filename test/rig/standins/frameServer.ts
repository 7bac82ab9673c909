// An HTTP/2 server with TLS that writes single frames, so that a test controls each of them. Node's own server cannot
// send some of them: a GOAWAY that refuses the first stream, or one before SETTINGS.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const types = { data: 0, headers: 1, settings: 4, ping: 6, goaway: 7 } as const;
const endStream = 0x1;
const ack = 0x1;
const endHeaders = 0x4;
/** The `:status` pseudo-headers that have an index of their own in HPACK's static table. */
const statusBlock = { 200: Buffer.from([0x88]), 400: Buffer.from([0x8c]) };

export interface FrameConnection {
  /** The number of the connection; the first one is 1. */
  number: number;
  settings: () => void;
  headers: (streamId: number, status: keyof typeof statusBlock, how?: { end: boolean }) => void;
  data: (streamId: number, text: string, how?: { end: boolean }) => void;
  goaway: (lastStreamId: number, code?: number) => void;
  end: () => void;
  destroy: () => void;
}

export interface FrameServerOptions {
  tls: { key: string; cert: string };
  onConnection?: (connection: FrameConnection) => void;
  /** Called when a request is complete. */
  onRequest: (connection: FrameConnection, streamId: number) => void;
}

export async function startFrameServer({ tls, onConnection, onRequest }: FrameServerOptions) {
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...tls, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const connection = connectionOf(socket, sockets.size);
    (onConnection ?? (({ settings }) => settings()))(connection);
    let unread = Buffer.alloc(0);
    let isPrefaceRead = false;
    socket.on('data', (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes]);
      if (!isPrefaceRead && unread.length >= preface.length) {
        unread = unread.subarray(preface.length);
        isPrefaceRead = true;
      }
      while (isPrefaceRead && unread.length >= 9 && unread.length >= 9 + unread.readUIntBE(0, 3)) {
        const length = unread.readUIntBE(0, 3);
        const [type, flags = 0, streamId] = [unread[3], unread[4], unread.readUInt32BE(5)];
        const payload = unread.subarray(9, 9 + length);
        unread = unread.subarray(9 + length);
        const isAck = (flags & ack) !== 0;
        if (type === types.settings && !isAck) socket.write(frame(types.settings, ack, 0));
        if (type === types.ping && !isAck) socket.write(frame(types.ping, ack, 0, payload));
        const isBody = type === types.headers || type === types.data;
        if (isBody && (flags & endStream) !== 0) onRequest(connection, streamId);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connectionCount: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function connectionOf(socket: TLSSocket, number: number): FrameConnection {
  const write = (bytes: Buffer) => void (socket.writable && socket.write(bytes));
  return {
    number,
    settings: () => write(frame(types.settings, 0, 0)),
    headers: (streamId, status, { end } = { end: true }) =>
      write(frame(types.headers, endHeaders | (end ? endStream : 0), streamId, statusBlock[status])),
    data: (streamId, text, { end } = { end: true }) =>
      write(frame(types.data, end ? endStream : 0, streamId, Buffer.from(text))),
    goaway: (lastStreamId, code = 0) =>
      write(frame(types.goaway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(code)]))),
    end: () => socket.end(),
    destroy: () => socket.destroy(),
  };
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function frame(type: number, flags: number, streamId: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}
