// The console's side of token verification: key pairs, a JWK Set with their public keys, and forged tokens.
import type { KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type JWK } from 'jose';
import { newKeyPair } from './keyPairs.js';

export interface ConsoleKey {
  kid: string;
  alg: string;
  privateKey: KeyObject;
  /** The public key as PEM. It is no secret, so a forger can use it. */
  publicPem: string;
}

export interface JwksServer {
  url: string;
  /** How often the JWK Set was requested. */
  asked: () => number;
  add: (kid: string, alg?: string) => Promise<ConsoleKey>;
  stop: () => Promise<void>;
}

export async function startJwksServer(): Promise<JwksServer> {
  const keys: JWK[] = [];
  let asked = 0;
  const server = createServer((_request, answer) => {
    asked += 1;
    answer.setHeader('content-type', 'application/json');
    answer.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    asked: () => asked,
    async add(kid, alg = 'RS256') {
      const { publicKey, privateKey, publicPem } = newKeyPair(alg.startsWith('ES') ? 'ec' : 'rsa');
      keys.push({ ...(await exportJWK(publicKey)), kid, alg, use: 'sig' });
      return { kid, alg, privateKey, publicPem };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
