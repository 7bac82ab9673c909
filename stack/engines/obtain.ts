// Gets an engine from the first source that has one; cheap sources come first. When all sources fail, the message lists
// every source with the reason.

import { toError } from '../../platform/toError.js';
import { ExpectedFailure } from '../expectedFailure.js';
import type { Task } from '../terminal.js';
import { type CachedFile, cachedPath } from './cache.js';

export interface Engine<Kind extends string = string> {
  kind: Kind;
  /** Absolute path of the program. */
  path: string;
  version: string;
  /** What the engine is and where it came from, as the terminal prints it. */
  said: string;
}

export interface Source<Kind extends string> {
  /** The name of the source as the failure message prints it. */
  tried: string;
  /** The kind of engine that the source gives. */
  kind: Kind;
  /**
   * Resolves with undefined when the source has no engine; throws with the reason when it has one that cannot be used.
   */
  get: (context: Context) => Promise<Engine<Kind> | undefined>;
}

export interface Context {
  task: Task;
  signal: AbortSignal;
}

export interface Wanted<Kind extends string> {
  title: string;
  /** The name of the setting for the engine's address. */
  givenBy: string;
  sources: Source<Kind>[];
  /** What the user can do when every source fails. */
  advice: string[];
}

/** The source for an engine that an earlier start left in the cache. */
export const cachedSource = <Kind extends string>(
  tried: string,
  file: CachedFile,
  { kind, engine }: { kind: Kind; engine: (path: string) => Engine<Kind> | Promise<Engine<Kind>> },
): Source<Kind> => ({
  tried,
  kind,
  get: async () => {
    const path = cachedPath(file);
    return path === undefined ? undefined : engine(path);
  },
});

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
      tried.push([source.tried, toError(error).message]);
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
