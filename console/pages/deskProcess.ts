// The desk's process (test/rig/phones/desk.ts): what it says of the phones and of every hop, and its orders.
import { useEffect, useState } from 'react';
import { notify } from '../actions.js';
import { api, data } from '../api.js';
import type { Hop } from '../hops.js';
import type { ApplePass, GooglePass } from '../parts/faces.js';
import type { Pictures } from '../parts/phones.js';
import { texts } from '../texts.js';
import { readMember } from './memberDetail.js';
import { nameOf } from './members.js';

const said = texts.desk;

export const deskUrl = document.querySelector<HTMLMetaElement>('meta[name=live-desk]')?.content ?? '';

interface Held {
  memberId: string;
  name: string;
  pictures: Pictures;
  lockScreen?: string;
}

export type Phone = 'iphone' | 'android';

export interface DeskState {
  wallets: boolean;
  /** The service has wallets of the user. */
  hasOwnWallets: boolean;
  phones: {
    iphone: (Held & { pass: ApplePass; isOffline: boolean }) | null;
    android: (Held & { pass: GooglePass }) | null;
  };
}

const keptHops = 200;

export async function order(body: Record<string, unknown>): Promise<void> {
  const answer = await fetch(deskUrl, { method: 'POST', credentials: 'include', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

export function useDesk() {
  const [state, setState] = useState<DeskState>();
  const [hops, setHops] = useState<readonly Hop[]>([]);
  const [isGone, setIsGone] = useState(false);
  useEffect(() => {
    const source = new EventSource(deskUrl, { withCredentials: true });
    source.onopen = () => {
      setIsGone(false);
      setHops([]);
    };
    source.onerror = () => setIsGone(true);
    source.addEventListener('state', ({ data: text }) => setState(JSON.parse(text)));
    source.addEventListener('hop', ({ data: text }) => {
      const hop: Hop = JSON.parse(text);
      setHops((now) => [...now, hop].slice(-keptHops));
    });
    return () => source.close();
  }, []);
  return { state, hops, isGone };
}

export const press = (body: Record<string, unknown>) =>
  order(body).catch((error: Error) => notify('failed', error.message));

const waitMs = 500;
const tries = 60;

/** Repeats until there is a value. Throws `failure` after half a minute. */
export async function patiently<T>(read: () => Promise<T | undefined>, failure: string): Promise<T> {
  for (let count = 0; count < tries; count += 1) {
    const found = await read();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  throw new Error(failure);
}

export async function putCard(id: string, phones: readonly Phone[]): Promise<void> {
  const member = await readMember(id);
  const card = { memberId: id, name: nameOf(member), passUrl: member.apple.passUrl };
  for (const phone of phones) {
    if (phone === 'iphone') await order({ do: phone, ...card });
    else {
      // The link that saves the card at Google comes with the first pass there.
      const saveUrl = await patiently(async () => (await readMember(id)).google.saveUrl, said.noSaveUrl);
      await order({ do: phone, ...card, saveUrl });
    }
  }
}

/** Puts the card of the newest active member on both phones, one that collects stamps if there is one. */
export async function switchOn(): Promise<void> {
  await order({ do: 'wallets' });
  const programs = await data(api.GET('/merchants/me/programs'));
  const programId = programs.find(({ style, archived }) => style === 'stamps' && !archived)?._id;
  const query = { pageSize: 10, ...(programId !== undefined && { programId }) };
  const { items } = await data(api.GET('/merchants/me/members', { params: { query } }));
  const id = items.find(({ status }) => status === 'active')?.id;
  if (id !== undefined) await putCard(id, bothPhones);
}

export const bothPhones: readonly Phone[] = ['iphone', 'android'];
