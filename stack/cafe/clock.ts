// The clock of the demo's history. Leases go on by the clock of today, so that no relay takes the events.
import type { WorkerDeps } from '../../activities/workerDeps.js';

export const leaseOwner = 'cafe';

/** An event of the story and when it happened. */
export interface Told {
  eventId: string;
  at: Date;
}

export const atTime = (deps: WorkerDeps, time: Date): WorkerDeps => ({ ...deps, now: () => time });

export const later = (time: Date, ms: number): Date => new Date(time.getTime() + ms);
