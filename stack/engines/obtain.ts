// An engine is looked for where it costs nothing first; what was tried, and why it did not do, is kept for the person
// who has to help when nothing did.

import { ExpectedFailure } from '../expectedFailure.js';
import type { Task } from '../terminal.js';

export interface Engine<Kind extends string = string> {
  kind: Kind;
  /** The program's absolute path. */
  path: string;
  version: string;
  /** What it is and where it came from, for people. */
  said: string;
}

export interface Source<Kind extends string> {
  /** What is tried, for people. */
  tried: string;
  /** Which engine it gives. */
  kind: Kind;
  /** Undefined when it isn't there; throws with the reason when it is there and does not do. */
  get: (context: Context) => Promise<Engine<Kind> | undefined>;
}

export interface Context {
  task: Task;
  signal: AbortSignal;
}

export interface Wanted<Kind extends string> {
  title: string;
  /** Where the person could have given its address. */
  givenBy: string;
  sources: Source<Kind>[];
  /** What the person can do when every source fails. */
  advice: string[];
}

export async function obtain<Kind extends string>(wanted: Wanted<Kind>, context: Context): Promise<Engine<Kind>> {
  const tried: [string, string][] = [[wanted.givenBy, 'not set']];
  for (const source of wanted.sources) {
    context.signal.throwIfAborted();
    try {
      const engine = await source.get(context);
      if (engine !== undefined) return engine;
      tried.push([source.tried, 'not there']);
    } catch (error) {
      context.signal.throwIfAborted();
      tried.push([source.tried, error instanceof Error ? error.message : String(error)]);
    }
  }
  const width = Math.max(...tried.map(([what]) => what.length)) + 2;
  throw new ExpectedFailure(
    [
      `No ${wanted.title} could be had. Tried, in this order:`,
      ...tried.map(([what, why]) => `  ${what.padEnd(width)}${why}`),
      'Any one of these helps:',
      ...wanted.advice.map((line) => `  - ${line}`),
    ].join('\n'),
  );
}
