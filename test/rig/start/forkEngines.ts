// The engines of this fork. Each fork has its own MongoDB and Temporal, so files that run at the same time share no
// task queue, no schedule and no database clock.
import { inject } from 'vitest';

export interface ForkEngines {
  mongodbUri: string;
  mongodbEmbedded: boolean;
  temporalAddress: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** One entry for each fork of the project. */
    engines: ForkEngines[];
  }
}

export function forkEngines(): ForkEngines {
  const engines = inject('engines');
  // Vitest numbers the forks that run at the same time from 1.
  const fork = Number(process.env.VITEST_POOL_ID);
  const own = engines[fork - 1];
  if (!own) throw new Error(`Fork ${fork} has no engines: ${engines.length} were started.`);
  return own;
}
