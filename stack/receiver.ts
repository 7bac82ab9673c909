// A small webhook receiver for trials: prints each webhook and whether its signature is valid, and always answers 204.
// It computes `webhook-signature` itself (docs/interface.md#63-signatures), with no code of the sender.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const usage = `Usage: npm run receiver -- [--port PORT] [--secret SECRET] [--status STATUS]

  -p, --port    the port on 127.0.0.1 (RECEIVER_PORT, or 4000)
  -s, --secret  the secret of the subscription, to check signatures (WEBHOOK_SECRET)
      --status  the status of every answer (204)
  -h, --help    this text

Example: npm run -s receiver -- --secret whsec_...`;

const values = options();

function options() {
  try {
    const { values: given } = parseArgs({
      options: {
        port: { type: 'string', short: 'p', default: process.env.RECEIVER_PORT || '4000' },
        secret: { type: 'string', short: 's', default: process.env.WEBHOOK_SECRET || '' },
        status: { type: 'string', default: '204' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (given.help) {
      console.log(usage);
      process.exit(0);
    }
    if (!(/^\d+$/.test(given.port) && Number(given.port) <= 65_535))
      throw new Error(`--port ${given.port} is no port.`);
    if (!/^[2-5]\d\d$/.test(given.status)) throw new Error(`--status ${given.status} is no status of an answer.`);
    return given;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    return process.exit(1);
  }
}

const server = createServer(async (request, response) => {
  const body = await buffer(request);
  response.writeHead(Number(values.status)).end();
  console.log(describe(request.headers, body));
});
server.on('error', (error) => {
  console.error(`The receiver cannot listen on port ${values.port}: ${error.message}. Choose another one: --port 4001`);
  process.exit(1);
});
server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(`Waiting for webhooks on http://127.0.0.1:${values.port}/ (Ctrl-C ends it)`);
});

function describe(headers: IncomingHttpHeaders, body: Buffer): string {
  const event = String(headers['x-service-webhook-event'] ?? 'no event header');
  const id = String(headers['webhook-id'] ?? '');
  const first = `${new Date().toISOString()}  ${event}  ${id}  signature ${verdict(headers, body)}  answered ${values.status}`;
  return `${first}\n  ${body.toString('utf8')}`;
}

function verdict(headers: IncomingHttpHeaders, body: Buffer): string {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (signatures.length === 0) return 'missing';
  if (values.secret === '') return 'not checked (give --secret)';
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= 300)) return 'too old';
  const [, encoded] = /^whsec_(.*)$/.exec(values.secret) ?? [];
  const key = encoded === undefined ? values.secret : Buffer.from(encoded, 'base64');
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
  const isGood = String(signatures)
    .split(' ')
    .map((entry) => Buffer.from(entry))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
  return isGood ? 'good' : 'WRONG';
}
