// A way to a server that can be shut or blocked.
import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';

export interface Way {
  address: string;
  /** Connections are refused, and those that are open are cut. */
  shut: () => void;
  open: () => Promise<unknown>;
  /** Connections stay open or are accepted, and nothing passes until they are cut or `unblock` is called. */
  block: () => void;
  unblock: () => void;
}

export async function aWay(to: string): Promise<Way> {
  const [host, port] = to.split(':');
  const ends = new Set<Socket>();
  let isBlocked = false;
  const server = createServer((near) => {
    const far = dial({ host, port: Number(port) });
    for (const socket of [near, far]) {
      ends.add(socket.on('error', () => {}));
      socket.once('close', () => {
        near.destroy();
        far.destroy();
        ends.delete(socket);
      });
    }
    near.pipe(far).pipe(near);
    if (isBlocked) for (const socket of [near, far]) socket.pause();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${own}`,
    shut() {
      server.close();
      for (const socket of ends) socket.destroy();
    },
    open: () => once(server.listen(own, '127.0.0.1'), 'listening'),
    block() {
      isBlocked = true;
      for (const socket of ends) socket.pause();
    },
    unblock() {
      isBlocked = false;
      for (const socket of ends) socket.resume();
    },
  };
}
