// Chooses ports below the range that operating systems use for outgoing connections, so that an engine finds its port
// free when it restarts. A port that was chosen is free until its process listens, so processes that choose ports at
// the same time, such as those of tests, get ranges of their own by STACK_PORTS.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { isSystemError } from './systemError.js';

const allPorts = '20000-32000';

/** Ports that this process has chosen. Their processes may not listen yet. */
const chosen = new Set<number>();

export async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch (error) {
    if (isSystemError(error, 'EADDRINUSE', 'EACCES')) return false;
    throw error;
  } finally {
    server.close();
  }
}

/** Returns a port that is free now: `preferred` if it is free, otherwise a random one. */
export async function findPort(host: string, preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(host, preferred))) return preferred;
  const range = process.env.STACK_PORTS ?? allPorts;
  const [lowest = 0, highest = 0] = range.split('-').map(Number);
  for (let tries = 0; tries < 200; tries += 1) {
    const port = randomInt(lowest, highest);
    if (chosen.has(port)) continue;
    chosen.add(port);
    if (await isFree(host, port)) return port;
  }
  throw new Error(`No free port in ${range} on ${host}.`);
}

/** The first free port from `port` on. */
export async function nextFree(host: string, port: number): Promise<number> {
  for (let next = port; next < Math.min(port + 1_000, 65_536); next += 1) {
    if (chosen.has(next) || !(await isFree(host, next))) continue;
    chosen.add(next);
    return next;
  }
  return findPort(host);
}

export async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  socket.setTimeout(1_000, () => socket.destroy(new Error('No answer.')));
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
