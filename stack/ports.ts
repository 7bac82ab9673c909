// Chooses ports below the range that operating systems use for outgoing connections, so that an engine finds its port
// free when it restarts.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { isSystemError } from './systemError.js';

const lowest = 20_000;
const highest = 32_000;

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
  for (let tries = 0; tries < 200; tries += 1) {
    const port = randomInt(lowest, highest);
    if (await isFree(host, port)) return port;
  }
  throw new Error(`No free port between ${lowest} and ${highest} on ${host}.`);
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
