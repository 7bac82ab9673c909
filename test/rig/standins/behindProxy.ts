// What stands behind a proxy in the place of the APIs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** In the place of an API. */
export async function startStandIn(answer: RequestListener, port = 0) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/readyz') return response.end();
    requests.push(request);
    answer(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: taken } = server.address() as AddressInfo;
  return {
    requests,
    port: taken,
    address: `127.0.0.1:${taken}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
export type StandIn = Awaited<ReturnType<typeof startStandIn>>;

const stopped = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
  console.log(this.address().port);
  process.kill(process.pid, 'SIGSTOP');
});`;

/** An address that answers no attempt to connect, as that of a host that is gone. */
export async function startGoneHost() {
  const child = spawn(process.execPath, ['-e', stopped], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const port = Number(line);
  const waiting: Socket[] = [];
  let isFull = false;
  while (!isFull) {
    const socket = connect({ port, host: '127.0.0.1' });
    waiting.push(socket);
    isFull = await Promise.race([once(socket, 'connect').then(() => false), sleep(500, true)]);
  }
  return {
    address: `127.0.0.1:${port}`,
    async stop() {
      for (const socket of waiting) socket.on('error', () => undefined).destroy();
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
