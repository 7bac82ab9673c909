// A gateway that serves a service below a path of its own, and takes the path away before it passes a request on.
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Gateway {
  /** With the path. */
  url: string;
  /** Passes on to the service from now on. */
  leadTo: (url: string) => void;
  stop: () => Promise<void>;
}

export async function startGateway(path: string): Promise<Gateway> {
  let target = '';
  const server = createServer((request, answer) => {
    const { url = '', method, headers } = request;
    if (target === '' || !`${url}/`.startsWith(`${path}/`)) return void answer.writeHead(404).end();
    const passed = send(`${target}${url.slice(path.length) || '/'}`, { method, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    leadTo(url) {
      target = url;
    },
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
