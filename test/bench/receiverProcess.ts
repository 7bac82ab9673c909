// A webhook receiver in its own process. `/hook` answers 204 at once, `/hang` never answers. On request it reports the
// number of requests to `/hook` since the last report, and the age of each event at its arrival.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceiverCount {
  count: number;
  /** Milliseconds from the event to its arrival. */
  ages: number[];
}

let ages: number[] = [];

const server = createServer((request, answer) => {
  if (request.url === '/hang') {
    request.resume();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const occurredAt = /"occurredAt":"([^"]+)"/.exec(Buffer.concat(chunks).toString('latin1'))?.[1];
    ages.push(occurredAt === undefined ? 0 : Date.now() - Date.parse(occurredAt));
    answer.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('message', () => {
  const report: ReceiverCount = { count: ages.length, ages };
  ages = [];
  process.send?.(report);
});
process.once('disconnect', () => process.exit(0));
