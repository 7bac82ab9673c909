// A UDP name server whose answers a test configures.
import { createSocket } from 'node:dgram';
import { isIP } from 'node:net';

/** The addresses of a name; `null` for a name that does not exist, `silence` for no answer. */
export type Zone = (name: string) => readonly string[] | null | 'silence';

export interface NameServer {
  /** In the form `address:port`. */
  address: string;
  /** The names that were queried so far. */
  asked: string[];
  stop(): Promise<void>;
}

const typeA = 1;
const typeAaaa = 28;
const nameError = 3;

export async function startNameServer(zone: Zone): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const { name, type, question } = readQuestion(query);
    asked.push(name);
    const known = zone(name);
    if (known === 'silence') return;
    const family = new Map([
      [typeA, 4],
      [typeAaaa, 6],
    ]).get(type);
    const addresses = (known ?? []).filter((entry) => isIP(entry) === family);
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (known === null ? nameError : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    socket.send(Buffer.concat([header, question, ...addresses.map((entry) => record(type, entry))]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: () => new Promise((resolve) => socket.close(resolve)),
  };
}

function readQuestion(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(at + 1),
    question: query.subarray(12, at + 5),
  };
}

function record(type: number, address: string): Buffer {
  const bytes = type === typeA ? address.split('.').map(Number) : ipv6Bytes(address);
  const head = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
  return Buffer.concat([head, Buffer.from(bytes)]);
}

function ipv6Bytes(address: string): number[] {
  const [head = '', tail = ''] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
}
