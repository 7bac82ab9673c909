// The phones of the bench, an iPhone and perhaps an Android phone for each member, and the settings of their stack.
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Platform } from '../../schemas/shared/passUpdate.schema.js';
import { type Child, startChild } from './child.js';
import type { ProcessList } from './processList.js';

export interface Card {
  memberId: string;
  /** Of the signed pass. */
  passUrl: string;
  /** At Google; absent for a member who has only an iPhone. */
  objectId?: string;
}

export interface AddCards {
  cards: readonly Card[];
}

/** A phone shows a new balance. */
export interface Shown {
  memberId: string;
  wallet: Platform;
  balance: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Milliseconds since the epoch, by wallet. */
export type ShownAt = Partial<Record<Platform, number>>;

const lookMs = 20;
const withinMs = 60_000;
const started = new WeakMap<ProcessList, Child>();

/** Starts the phones' process and returns the settings of the stack. */
export async function phonesEnv(processes: ProcessList): Promise<NodeJS.ProcessEnv> {
  const { child, ready } = await startChild(processes, 'phonesProcess.ts');
  started.set(processes, child);
  return z.record(z.string(), z.string()).parse(ready);
}

export interface Phones {
  add: (cards: readonly Card[]) => Promise<void>;
  /** When the member's phones first showed at least this balance. Throws when they do not in time. */
  shownAt: (memberId: string, balance: number, wallets: readonly Platform[]) => Promise<ShownAt>;
}

/** The phones that `phonesEnv` started. */
export function phonesOf(processes: ProcessList): Phones {
  const child = started.get(processes);
  if (!child) throw new Error('No phones were started.');
  /** By member, oldest first. */
  const faces = new Map<string, Shown[]>();
  let looking: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    await sleep(lookMs);
    // The process sends no other answer.
    for (const one of (await child.ask('shown')) as Shown[])
      faces.set(one.memberId, [...(faces.get(one.memberId) ?? []), one]);
    looking = undefined;
  };

  return {
    async add(cards) {
      const asked: AddCards = { cards };
      await child.ask(asked);
    },
    async shownAt(memberId, balance, wallets) {
      for (const deadline = performance.now() + withinMs; performance.now() < deadline; ) {
        const shown = wallets.flatMap(
          (wallet) => faces.get(memberId)?.find((one) => one.wallet === wallet && one.balance >= balance) ?? [],
        );
        if (shown.length === wallets.length) return Object.fromEntries(shown.map(({ wallet, at }) => [wallet, at]));
        looking ??= look();
        await looking;
      }
      throw new Error(`The phones of ${memberId} do not show ${balance}.`);
    },
  };
}
