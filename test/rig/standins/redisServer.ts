// A Redis on loopback with the features that this project uses: strings, expiry, counters, the server's clock, and Lua
// scripts that run to their end before the next command. It can stop answering or refuse connections like a real one.

import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { LuaFactory } from 'wasmoon';

export interface RedisServer {
  url: string;
  port: number;
  /** The names of the commands from clients, without the commands inside scripts. */
  commands: string[];
  /** Keeps connections open but answers nothing until `speak` is called. */
  hush: () => void;
  speak: () => void;
  /** Cuts all connections and refuses new ones. */
  close: () => Promise<void>;
}

type Reply = string | number | null | Reply[] | Error;
interface Entry {
  value: string;
  expiresAt: number;
}

export async function startRedisServer(options: { port?: number } = {}): Promise<RedisServer> {
  const entries = new Map<string, Entry>();
  const scripts = new Map<string, string>();
  const sockets = new Set<Socket>();
  const lua = await new LuaFactory().createEngine({ injectObjects: true });
  let internal = false;

  function read(key: string): Entry | undefined {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > Date.now()) return entry;
    entries.delete(key);
    return undefined;
  }

  function set(key: string, value: string, flags: string[]): Reply {
    const upper = flags.map((flag) => flag.toUpperCase());
    if (upper.includes('NX') && read(key) !== undefined) return null;
    const span = (name: string, unit: number) =>
      upper.includes(name) ? Number(flags[upper.indexOf(name) + 1]) * unit : undefined;
    entries.set(key, {
      value,
      expiresAt: Date.now() + (span('PX', 1) ?? span('EX', 1_000) ?? Number.POSITIVE_INFINITY),
    });
    return 'OK';
  }

  function add(key: string, by: number): number {
    const entry = read(key) ?? { value: '0', expiresAt: Number.POSITIVE_INFINITY };
    const value = Number(entry.value) + by;
    entries.set(key, { ...entry, value: String(value) });
    return value;
  }

  function expire(key: string, ms: number): number {
    const entry = read(key);
    if (entry === undefined) return 0;
    entry.expiresAt = Date.now() + ms;
    return 1;
  }

  function remaining(key: string): number {
    const entry = read(key);
    if (entry === undefined) return -2;
    return Number.isFinite(entry.expiresAt) ? entry.expiresAt - Date.now() : -1;
  }

  function runScript(script: string, rest: string[]): Reply {
    const keys = Number(rest[0] ?? 0);
    lua.global.set('KEYS', rest.slice(1, 1 + keys));
    lua.global.set('ARGV', rest.slice(1 + keys));
    const answer: unknown = lua.doStringSync(`return (function() ${script}\n end)()`);
    if (typeof answer === 'number') return Math.trunc(answer);
    if (Array.isArray(answer))
      return answer.map((each) => (typeof each === 'number' ? Math.trunc(each) : String(each)));
    return typeof answer === 'string' ? answer : null;
  }

  function run(name: string, args: string[]): Reply {
    const [key = '', value = ''] = args;
    switch (name) {
      case 'ping':
        return 'PONG';
      case 'info':
        return '# Server\r\nredis_version:7.0.0\r\nloading:0\r\n';
      case 'client':
      case 'select':
      case 'quit':
        return 'OK';
      case 'time': {
        const micros = Math.round((performance.timeOrigin + performance.now()) * 1_000);
        return [String(Math.floor(micros / 1e6)), String(micros % 1e6)];
      }
      case 'get':
        return read(key)?.value ?? null;
      case 'set':
        return set(key, value, args.slice(2));
      case 'del':
        return entries.delete(key) ? 1 : 0;
      case 'incr':
        return add(key, 1);
      case 'incrby':
        return add(key, Number(value));
      case 'expire':
        return expire(key, Number(value) * 1_000);
      case 'pexpire':
        return expire(key, Number(value));
      case 'ttl':
        return Math.ceil(remaining(key) / 1_000);
      case 'pttl':
        return remaining(key);
      case 'eval':
        scripts.set(createHash('sha1').update(key).digest('hex'), key);
        return runScript(key, args.slice(1));
      case 'evalsha': {
        const script = scripts.get(key.toLowerCase());
        return script === undefined ? new Error('NOSCRIPT No matching script.') : runScript(script, args.slice(1));
      }
      default:
        return new Error(`ERR unknown command '${name}'`);
    }
  }

  lua.global.set('redis', {
    call: (name: string, ...args: (string | number)[]) => {
      const reply = run(name.toLowerCase(), args.map(String));
      if (reply instanceof Error) throw reply;
      return reply ?? false;
    },
  });

  const server = createServer((socket) => {
    let unread = Buffer.alloc(0);
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      for (let next = parseCommand(unread); next !== null; next = parseCommand(unread)) {
        unread = unread.subarray(next.length);
        const [name = '', ...args] = next.words;
        if (internal) continue;
        result.commands.push(name.toLowerCase());
        socket.write(encode(attempt(() => run(name.toLowerCase(), args))));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const result: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    port,
    commands: [],
    hush: () => {
      internal = true;
    },
    speak: () => {
      internal = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      lua.global.close();
    },
  };
  return result;
}

function attempt(work: () => Reply): Reply {
  try {
    return work();
  } catch (error) {
    return new Error(`ERR ${error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : 'script failed'}`);
  }
}

/** Parses one command of the protocol (an array of bulk strings); null while the command is incomplete. */
function parseCommand(bytes: Buffer): { words: string[]; length: number } | null {
  let at = 0;
  const line = (): number | null => {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return null;
    const number = Number(bytes.toString('latin1', at + 1, end));
    at = end + 2;
    return number;
  };
  const count = line();
  if (count === null) return null;
  const words: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const length = line();
    if (length === null || bytes.length < at + length + 2) return null;
    words.push(bytes.toString('utf8', at, at + length));
    at += length + 2;
  }
  return { words, length: at };
}

function encode(reply: Reply): string {
  if (reply === null) return '$-1\r\n';
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (reply instanceof Error) return `-${reply.message}\r\n`;
  if (Array.isArray(reply)) return `*${reply.length}\r\n${reply.map(encode).join('')}`;
  return reply === 'OK' || reply === 'PONG' ? `+${reply}\r\n` : `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`;
}
