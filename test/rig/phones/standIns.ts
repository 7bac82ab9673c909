// Stand-ins of Apple and Google on this machine, for a stack with real wallets but without accounts: test certificates,
// a local APNs and a local Google, and the environment of a stack that uses them. They are created once and stored, so
// that the stack finds the same ones after a restart.
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { findPort } from '../../../stack/ports.js';
import { replaceFile } from '../../../stack/stackFile.js';
import { type ApnsServer, startApnsServer } from '../standins/apnsServer.js';
import { type AppleCertificates, makeAppleCertificates } from '../standins/appleCertificates.js';
import { startGoogleServer } from '../standins/googleServer.js';
import { createVirtualGoogleWallet, type VirtualGoogleWallet } from '../standins/virtualGoogleWallet.js';

const kept = z.object({
  certificates: z.custom<AppleCertificates>((value) => typeof value === 'object' && value !== null),
  googleKey: z.string(),
  ports: z.object({ apns: z.number(), google: z.number(), control: z.number() }),
});
export type Kept = z.infer<typeof kept>;

const folderOf = (stackDir: string) => join(stackDir, 'wallets');
const keptFile = (stackDir: string) => join(folderOf(stackDir), 'wallets.json');
export const envFile = (stackDir: string): string => join(folderOf(stackDir), 'wallets.env');

/** Undefined when `wallets` never ran on this folder. */
export function readKept(stackDir: string): Kept | undefined {
  try {
    return kept.parse(JSON.parse(readFileSync(keptFile(stackDir), 'utf8')));
  } catch {
    return undefined;
  }
}

export const controlUrl = ({ ports }: Kept): string => `http://127.0.0.1:${ports.control}`;

async function makeKept(): Promise<Kept> {
  const google = await startGoogleServer();
  const { private_key } = z
    .object({ private_key: z.string() })
    .parse(JSON.parse(google.settings.GOOGLE_WALLET_CREDENTIALS));
  await google.close();
  const certificates = await makeAppleCertificates();
  const [apns, googlePort, control] = [
    await findPort('127.0.0.1'),
    await findPort('127.0.0.1'),
    await findPort('127.0.0.1'),
  ];
  return { certificates, googleKey: private_key, ports: { apns, google: googlePort, control } };
}

export interface StandIns {
  apns: ApnsServer;
  customer: VirtualGoogleWallet;
  wwdrCert: string;
  /** The settings of a service that uses them. */
  env: Record<string, string>;
  close: () => Promise<void>;
}

/** Calls `say` for each push. */
export async function startStandIns({
  stackDir,
  say,
}: {
  stackDir: string;
  say: (line: string) => void;
}): Promise<StandIns> {
  const folder = folderOf(stackDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const mine = readKept(stackDir) ?? (await makeKept());
  const { certificates, ports } = mine;
  const apns = await startApnsServer(certificates, { port: ports.apns });
  const google = await startGoogleServer({ port: ports.google, privateKey: createPrivateKey(mine.googleKey) });
  const customer = createVirtualGoogleWallet(google);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, noun, id = ''] = (request.url ?? '').split('/');
    if (noun === 'pushes') {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('\n');
      const stop = apns.listen(id, (topic) => {
        say(`push to ${id.slice(0, 8)}`);
        response.write(`${topic}\n`);
      });
      response.on('close', stop);
      return;
    }
    const body = noun === 'save' ? await customer.save(await text(request)) : customer.card(decodeURIComponent(id));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  const control = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  control.listen(ports.control, '127.0.0.1');
  await once(control, 'listening');

  const file = (name: string, content: string) => {
    replaceFile(join(folder, name), content);
    return join(folder, name);
  };
  const env = {
    APPLE_PASS_TYPE_ID: certificates.passTypeId,
    APPLE_TEAM_ID: certificates.teamId,
    APPLE_SIGNER_CERT: file('signer.pem', certificates.signerCert),
    APPLE_SIGNER_KEY: file('signer.key', certificates.signerKey),
    APPLE_WWDR_CERT: file('wwdr.pem', certificates.wwdrCert),
    APNS_ORIGIN: apns.origin,
    APNS_CA: file('apns.pem', apns.ca),
    GOOGLE_WALLET_ISSUER_ID: google.settings.GOOGLE_WALLET_ISSUER_ID,
    GOOGLE_WALLET_CREDENTIALS: file('google.json', google.settings.GOOGLE_WALLET_CREDENTIALS),
    GOOGLE_WALLET_ORIGIN: google.settings.GOOGLE_WALLET_ORIGIN,
  };
  file('wallets.json', JSON.stringify(mine));
  const lines = Object.entries(env).map(([name, value]) => `${name}="${value}"\n`);
  file('wallets.env', lines.join(''));
  return {
    ...{ apns, customer, env, wwdrCert: certificates.wwdrCert },
    async close() {
      control.closeAllConnections();
      control.close();
      await apns.close();
      await google.close();
    },
  };
}
