import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until rows that each process keeps for one second, such as programs, are read again. */
export const pastCache = (): Promise<void> => sleep(1_100);
