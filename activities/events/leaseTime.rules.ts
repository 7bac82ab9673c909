import type { Deps } from '../../platform/deps.js';

/** The time by which leases of events begin and end. */
export const leaseTime = ({ now, leaseNow = now }: Pick<Deps, 'now' | 'leaseNow'>): Date => leaseNow();
