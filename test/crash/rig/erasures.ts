// Erasures in crash tests: members with unique values, an owner who erases them, and the final checks.
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { deletedEventId, newId } from '../../../schemas/shared/ids.js';
import { findTraces, type Trace } from '../../rig/checks/findTraces.js';
import { until } from '../../rig/checks/until.js';
import type { Caller } from './caller.js';
import type { Cluster } from './cluster.js';
import { merchantId, type World } from './world.js';

export interface Somebody {
  id: string;
  values: string[];
}

/** Enrolls a member with a change whose message contains the name; optionally with a phone. */
export async function enrollSomebody(
  world: World,
  { caller, phone }: { caller: Caller; phone: boolean },
): Promise<Somebody> {
  const mark = newId()
    .slice(0, 8)
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));
  const person = { firstName: `Zerelda${mark}`, lastName: `Quimb${mark}`, email: `z.${mark}@example.com` };
  const body = { programId: 'crash-points', ...person };
  const { answer } = await caller.call({ method: 'POST', path: '/merchants/me/members', body });
  if (!('text' in answer) || answer.status !== 201) throw new Error('Nobody was enrolled.');
  const { id } = JSON.parse(answer.text).data as { id: string };
  if (phone) await world.addPhone(id);
  const change = { delta: 3, changeMessage: `Thank you, ${person.firstName}` };
  await caller.call({ method: 'PATCH', path: `/merchants/me/members/${id}/points`, key: newId(), body: change });
  return { id, values: Object.values(person) };
}

export const ownerToken = ({ cluster }: { cluster: Pick<Cluster, 'env'> }): Promise<string> =>
  new SignJWT({ sub: 'owner', merchantId, roleIds: ['owner'] })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('loyalty-console')
    .setAudience('loyalty-pass-service')
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(cluster.env.CONSOLE_JWT_SECRET ?? ''));

/** Calls both API processes in turn until one answers 200, or 404 because an unanswered request was carried out. */
export async function eraseAsOwner({ cluster }: World, id: string): Promise<void> {
  const token = await ownerToken({ cluster });
  let turn = 0;
  await until(
    async () => {
      turn += 1;
      const api = Object.values(cluster.apis)[turn % 2] ?? '';
      const headers = { Authorization: `Bearer ${token}` };
      const { status } = await fetch(`${api}/merchants/me/members/${id}`, { method: 'DELETE', headers });
      return status === 200 || (status === 404 && turn > 1);
    },
    { everyMs: 50, throwingIsNo: true },
  );
}

/** Waits until all collections were searched, and returns the remaining data of the member. */
export async function tracesOfErased({ cluster }: World, { id, values }: Somebody, since: Date): Promise<Trace[]> {
  await until(() =>
    cluster.deps.collections.erasures.findOne({ _id: id, runs: { $gte: 1 }, erasedAt: { $exists: true } }),
  );
  const folders = [join(cluster.folder, 'logs')];
  return findTraces({ deps: cluster.deps, temporal: cluster.temporal, since, folders }, values);
}

/** The number of erasure events, and of their different bodies. */
export function toldOf(
  { receivers: [receiver] }: Pick<World, 'receivers'>,
  { id }: Pick<Somebody, 'id'>,
): { accepted: number; variants: number } {
  const receipts = (receiver?.receipts() ?? []).filter(({ eventId }) => eventId === deletedEventId(id));
  return {
    accepted: receipts.filter(({ accepted }) => accepted).length,
    variants: new Set(receipts.map(({ bytes }) => bytes)).size,
  };
}
