// Restate: a member is a virtual object whose state is its row. Its change sends the event, in the same step, to a
// virtual object of its own, which delivers it and keeps it with its attempts.
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createEndpointHandler, object, TerminalError } from '@restatedev/restate-sdk';
import { Agent } from 'undici';
import { concurrency, createPost, firstWaitSeconds, mostAttempts, type StoredEvent } from './delivery.js';
import { type Balance, type Engine, eventMaker, type Place } from './engine.js';

interface StoredBalance extends Balance {
  updatedAt: string;
}

function servicesOf(place: Place) {
  const makeEvent = eventMaker(place);
  const post = createPost(place.url);
  const event = object({
    name: 'event',
    handlers: {
      async deliver(ctx, stored: StoredEvent) {
        ctx.set('event', stored);
        for (let attempts = 1; attempts <= mostAttempts; attempts += 1) {
          const attempt = await ctx.run('post', () => post(stored));
          ctx.set(`attempt ${attempts}`, attempt);
          if (attempt.success) return;
          await ctx.sleep(firstWaitSeconds * 1_000 * 2 ** (attempts - 1));
        }
        throw new TerminalError('All attempts failed.');
      },
    },
  });
  const member = object({
    name: 'member',
    handlers: {
      async change(ctx, updatedAt: string) {
        const { points, version } = (await ctx.get<StoredBalance>('balance')) ?? { points: 0, version: 0 };
        const after = { points: points + 1, version: version + 1, updatedAt };
        ctx.set('balance', after);
        const stored = makeEvent(ctx.key, after, ctx.rand.uuidv4(), updatedAt);
        ctx.objectSendClient(event, stored.eventId).deliver(stored);
      },
    },
  });
  return [member, event];
}

export const restate: Engine = {
  async startCaller({ address, admin = '' }) {
    const agent = new Agent({ connections: concurrency });
    const ask = async (origin: string, path: string, body: unknown) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const answer = await agent.request({ origin, path, method: 'POST', headers, body: JSON.stringify(body) });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${text}`);
      return text;
    };
    const query = "SELECT count(*) AS n FROM state WHERE service_name = 'event' AND key LIKE 'attempt%'";
    return {
      change: (memberId) => ask(address, `/member/${memberId}/change`, new Date().toISOString()),
      logged: async () => Number(JSON.parse(await ask(admin, '/query', { query })).rows[0]?.n),
    };
  },
  async startWorker(place) {
    const server = createServer(createEndpointHandler({ services: servicesOf(place), logger: () => {} }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`${place.admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
    });
    if (!answer.ok) throw new Error(`Restate refused the services: ${await answer.text()}`);
  },
};
