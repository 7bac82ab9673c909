// Shows the outbox: the events that are not published yet.
import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents } from '../../activities/events/outbox.reads.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main } from './command.js';

const seconds = (value: number): string => `${value.toFixed(1)} s`;

async function status({ deps, say }: CommandContext): Promise<void> {
  const { count: events, ageSeconds } = await readEvents(deps);
  say(events === 0 ? 'the outbox is empty' : `${events} events wait, the oldest for ${seconds(ageSeconds)}`);
}

async function drain({ deps, say }: CommandContext, { values }: CommandInput): Promise<void> {
  const within = Number(values.within ?? 300);
  if (!(within > 0)) throw new Mistakes(['--within must be a number of seconds']);
  const until = Date.now() + within * 1_000;
  let reported = Number.NaN;
  for (;;) {
    const { count: events, ageSeconds } = await readEvents(deps);
    if (events === 0) break;
    if (events !== reported) say(`${events} events wait, the oldest for ${seconds(ageSeconds)}`);
    reported = events;
    if (Date.now() > until)
      throw new Mistakes([`${events} events are still there after ${within} s: does a worker run?`]);
    await sleep(500);
  }
  say('the outbox is empty');
}

export const outbox: Command = {
  name: 'outbox',
  verbs: {
    status: {
      usage: 'status',
      does: 'shows how much waits, and for how long',
      example: 'status',
      audit: null,
      run: status,
    },
    drain: {
      usage: 'drain [--within SECONDS]',
      does: 'waits until nothing is left, as before an engine is taken down; fails after 300 seconds',
      example: 'drain --within 60',
      options: { within: { type: 'string' } },
      audit: null,
      run: drain,
    },
  },
};

if (process.argv[1]?.match(/commands\/outbox\.[jt]s$/)) await main(outbox);
