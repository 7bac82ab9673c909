// The outbox: what was changed and is not told yet.
import { setTimeout as sleep } from 'node:timers/promises';
import { readOutbox } from '../../activities/metrics/readOutbox.js';
import { type Command, type CommandContext, type Given, Mistakes, main } from './command.js';

const seconds = (value: number): string => `${value.toFixed(1)} s`;

async function status({ store, say }: CommandContext): Promise<void> {
  const { events, ageSeconds } = await readOutbox(store);
  say(events === 0 ? 'the outbox is empty' : `${events} events wait, the oldest for ${seconds(ageSeconds)}`);
}

async function drain({ store, say }: CommandContext, { values }: Given): Promise<void> {
  const within = Number(values.within ?? 300);
  if (!(within > 0)) throw new Mistakes(['--within must be a number of seconds']);
  const until = Date.now() + within * 1_000;
  let told = Number.NaN;
  for (;;) {
    const { events, ageSeconds } = await readOutbox(store);
    if (events === 0) break;
    if (events !== told) say(`${events} events wait, the oldest for ${seconds(ageSeconds)}`);
    told = events;
    if (Date.now() > until)
      throw new Mistakes([`${events} events are still there after ${within} s: does a worker run?`]);
    await sleep(500);
  }
  say('the outbox is empty');
}

export const outbox: Command = {
  name: 'outbox',
  verbs: {
    status: { usage: 'status', does: 'shows how much waits, and for how long', run: status },
    drain: {
      usage: 'drain [--within SECONDS]',
      does: 'waits until nothing is left, as before an engine is taken down; fails after 300 seconds',
      options: { within: { type: 'string' } },
      run: drain,
    },
  },
};

if (process.argv[1]?.match(/commands\/outbox\.[jt]s$/)) await main(outbox);
