// What all of the rehearsal works on, and what it waits for.
import { until } from '../rig/checks/until.js';
import type { SampleProxy } from '../rig/start/proxies.js';
import type { Containers } from './containers.js';
import type { Version } from './images.js';
import type { StandIns } from './standIns.js';

export interface Rehearsal {
  containers: Containers;
  /** In front of the APIs. */
  proxy: SampleProxy;
  /** Ports of this machine. */
  ports: { mongodb: number; temporal: number };
  folders: { secrets: string; postgres: string; clocks: string; backups: string };
  standIns: StandIns;
  /** The version before this one; undefined where the history does not hold it. */
  before: string | undefined;
  /** From now on containers are made from this version's image. */
  use: (version: Version) => Promise<void>;
  /** Whether Temporal's minor before is there, and is upgraded. */
  upgradesTemporal: boolean;
  /** The same of Temporal, the version before being its minor before. */
  takeTemporal: (version: Version) => Promise<void>;
  say: (line: string) => void;
}

/** As the compose file starts mongod, which the embedded engine takes only as a command. */
const limitTransactions = `
  import { readFile } from 'node:fs/promises';
  import { MongoClient } from 'mongodb';
  const client = new MongoClient(await readFile(process.env.MONGODB_URI_FILE, 'utf8'));
  await client.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds: 5 });
  await client.close();
`;

export const mongodbIsUp = async ({ containers }: Rehearsal): Promise<void> => {
  await containers.healthy('mongodb');
  await containers.exec('api', 'node', '--input-type=module', '--eval', limitTransactions);
};

export async function published({ containers }: Rehearsal): Promise<void> {
  const status = () => containers.exec('api', 'node', 'dist/stack/commands/outbox.js', 'status');
  await until(async () => (await status()).includes('the outbox is empty'), {
    withinMs: 120_000,
    everyMs: 1_000,
    seen: status,
  });
}
