// Chooses ports below the range that operating systems use for outgoing connections, so that an engine finds its port
// free when it restarts. A port that was chosen is free until its process listens, so processes that choose ports at
// the same time, such as those of tests, get ranges of their own by STACK_PORTS.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { isSystemError } from './systemError.js';

const allPorts = '20000-32000';
const highestPort = 65_535;

/** Ports that this process has chosen. Their processes may not listen yet. */
const chosenHere = new Set<number>();

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

/** Whether the port exists, is free and is not among those chosen before; adds it to them. */
async function take(host: string, port: number, chosen: Set<number>): Promise<boolean> {
  if (port > highestPort || chosen.has(port)) return false;
  chosen.add(port);
  return await isFree(host, port);
}

/**
 * Returns a port that is free now and not among those chosen before: `preferred` if it can be, otherwise a random one.
 * Adds it to those chosen.
 */
export async function findPort(host: string, preferred?: number, chosen = chosenHere): Promise<number> {
  if (preferred !== undefined && (await take(host, preferred, chosen))) return preferred;
  const range = process.env.STACK_PORTS ?? allPorts;
  const [lowest = 0, highest = 0] = range.split('-').map(Number);
  for (let tries = 0; tries < 200; tries += 1) {
    const port = randomInt(lowest, highest);
    if (await take(host, port, chosen)) return port;
  }
  throw new Error(`No free port in ${range} on ${host}.`);
}

/** The first port from `port` on that is free and not among those chosen before. Adds it to them. */
export async function nextFree(host: string, port: number, chosen: Set<number>): Promise<number> {
  for (let next = port; next < port + 1_000; next += 1) if (await take(host, next, chosen)) return next;
  return findPort(host, undefined, chosen);
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
