// The café's order system: the receiver of the demo's webhooks. Its address names its bad hour: what was sent then is
// answered 503, and everything else 200.
import type { IncomingMessage, ServerResponse } from 'node:http';

const ordersPath = '/orders';

const seconds = (time: Date): number => Math.floor(time.getTime() / 1_000);

export const ordersUrl = (origin: string, bad: { from: Date; to: Date }): string =>
  `${origin}${ordersPath}?closed=${seconds(bad.from)}-${seconds(bad.to)}`;

/** False when the request is for something else. */
export function answerOrder(request: IncomingMessage, response: ServerResponse): boolean {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
  if (pathname !== ordersPath || request.method !== 'POST') return false;
  const sentAt = Number(request.headers['webhook-timestamp']);
  const [from = 0, to = 0] = (searchParams.get('closed') ?? '').split('-').map(Number);
  request.resume();
  response.writeHead(sentAt >= from && sentAt < to ? 503 : 200).end();
  return true;
}
