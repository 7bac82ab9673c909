// The process behind unreliableReceiver.ts; its arguments are `<port> <journal> <life>`. It answers each request
// according to its current mode.
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { hang, ok, redirect, reset, slow, status, tooMany } from '../standins/responders.js';
import type { JournalLine, ReceiverMode } from './unreliableReceiver.js';

const [port = '0', journal = '', life = '0'] = process.argv.slice(2);
const each = ['errors', 'well', 'resets', 'late', 'busy', 'moved', 'hangs', 'well'] as const;

let mode: ReceiverMode = 'well';
/** Request numbers of different lives never overlap. */
let seen = Number(life) * 1_000_000;

const note = (line: JournalLine) => appendFileSync(journal, `${JSON.stringify(line)}\n`);

const responders = {
  well: { planned: 204, takes: true, respond: ok() },
  slow: { planned: 204, takes: true, respond: slow(150) },
  late: { planned: 204, takes: true, respond: slow(2_000) },
  errors: { planned: 500, takes: false, respond: status(500) },
  busy: { planned: 429, takes: false, respond: tooMany('1') },
  moved: { planned: 302, takes: false, respond: redirect('http://127.0.0.1:9/elsewhere') },
  resets: { planned: null, takes: false, respond: reset() },
  hangs: { planned: null, takes: false, respond: hang() },
};

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  seen += 1;
  const number = seen;
  const now = mode === 'mixed' ? (each[number % each.length] ?? 'well') : mode;
  const { url: path = '', headers, method = '' } = request;
  const { planned, takes, respond } = responders[now];
  note({ seen: number, path, headers, body: body.toString('base64'), taken: takes, planned });
  response.on('finish', () => {
    if (!response.socket?.destroyed) note({ answered: response.statusCode, seen: number });
  });
  respond({ method, path, headers, body, at: new Date() }, response);
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.listen(Number(port), '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('message', (next: ReceiverMode) => {
  mode = next;
});
process.once('disconnect', () => process.exit(0));
