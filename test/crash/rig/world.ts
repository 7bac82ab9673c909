// One merchant in a cluster: programs of every style, receivers, and phones with passes.
import { Agent, fetch } from 'undici';
import { newApiKey } from '../../../schemas/access/apiKeys.schema.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { type ApnsServer, startApnsServer } from '../../rig/standins/apnsServer.js';
import { type AppleCertificates, makeAppleCertificates } from '../../rig/standins/appleCertificates.js';
import type { Certificate } from '../../rig/standins/certificates.js';
import type { Cluster } from './cluster.js';
import type { SubscribedReceiver } from './receivers.js';

export const merchantId = 'crash-merchant';

const programs = [
  {
    ...{ _id: 'crash-points', style: 'points', goal: 100 },
    earn: { per: 100, points: 1, currency: 'EUR', dailyLimit: 200 },
  },
  { _id: 'crash-stamps', style: 'stamps', goal: 5 },
  {
    _id: 'crash-tiers',
    style: 'tiered',
    goal: 50,
    earn: { per: 100, points: 1, currency: 'EUR' },
    expiry: { afterDays: 1 },
    tiers: [
      { name: 'Bronze', threshold: 0 },
      { name: 'Gold', threshold: 60 },
    ],
  },
] as const;

export const programIds = programs.map((program) => program._id);
export const styleOf = (programId: string): string | undefined =>
  programs.find((program) => program._id === programId)?.style;

/** Stand-in for Apple, so that changes have phones to push to. */
export interface Apple {
  certificates: AppleCertificates;
  apns: ApnsServer;
  env: Record<string, string>;
}

/** `host` and a certificate for it, for senders that are not on this machine's loopback address. */
export async function startApple(at?: { host: string; certificate: Certificate; ca: string }): Promise<Apple> {
  const made = await makeAppleCertificates();
  const certificates = { ...made, ...(at && { server: at.certificate }) };
  const apns = await startApnsServer(certificates, at && { host: at.host });
  const env = Object.fromEntries(
    Object.entries(certificates.settings).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
  return { certificates, apns, env: { ...env, APNS_ORIGIN: apns.origin, APNS_CA: at?.ca ?? apns.ca } };
}

/** What a load and the checkers need of a service, whether it consists of processes or of containers. */
export interface Site extends Pick<Cluster, 'apis' | 'deps' | 'env' | 'temporal'> {
  /** PEM of the authority of the APIs' certificates, where they speak https. */
  ca?: string;
}

export interface World<Place extends Site = Cluster> {
  cluster: Place;
  apiKey: string;
  receivers: SubscribedReceiver[];
  /** Registers a phone for the member's pass, as the Wallet app does. */
  addPhone(memberId: string): Promise<void>;
}

export async function populate<Place extends Site>(
  cluster: Place,
  { receivers, apple }: { receivers: SubscribedReceiver[]; apple?: Apple },
): Promise<World<Place>> {
  const { deps, ca } = cluster;
  const trusting = ca === undefined ? {} : { dispatcher: new Agent({ connect: { ca } }) };
  const { key, keyPrefix, hash } = newApiKey();
  await deps.collections.apiKeys.insertOne({
    _id: newId(),
    merchantId,
    hash,
    keyPrefix,
    name: 'crash key',
    roleIds: ['integration'],
    createdBy: 'crash',
    createdAt: new Date(),
  });
  await deps.collections.programs.insertMany(
    programs.map((program) => ({
      ...programFile.parse({ ...program, slug: program._id, name: program._id, fields: { primaryLabel: 'POINTS' } }),
      merchantId,
    })),
  );
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  for (const receiver of receivers) {
    const { url, events, retryPolicy, timeoutMs, name } = receiver;
    const answer = await fetch(`${cluster.apis['api-1']}/merchants/me/webhooks`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ url, events, retryPolicy, timeoutMs, name }),
      ...trusting,
    });
    const { data } = (await answer.json()) as { data: { id: string; secret: string } };
    receiver.subscriptionId = data.id;
    receiver.secret = data.secret;
  }
  return {
    cluster,
    apiKey: key,
    receivers,
    async addPhone(memberId) {
      const member = await deps.collections.members.findOne({ _id: memberId });
      if (!member || !apple) throw new Error('There is no such pass.');
      const { serialNumber, pass } = member;
      const path = `/wallet/apple/v1/devices/${newId()}/registrations/${apple.certificates.passTypeId}/${serialNumber}`;
      const answer = await fetch(`${cluster.env.PUBLIC_URL}${path}`, {
        method: 'POST',
        headers: { Authorization: `ApplePass ${pass.authenticationToken}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ pushToken: newId().replaceAll('-', '') }),
        ...trusting,
      });
      if (answer.status !== 201) throw new Error(`The registration was answered ${answer.status}.`);
    },
  };
}
