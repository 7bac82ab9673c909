// What the log says of a sign-in that the OpenID provider refuses: codes alone, never the provider's text, which may
// name the person, nor any text from the address of the callback.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOidc, type Oidc } from '../../../api/http/oidc.client.js';
import { createLog } from '../../../platform/log.js';
import { readConfig } from '../../../schemas/shared/config.schema.js';

const person = 'ada.lovelace@example.com';
let server: Server;
let oidc: Oidc;
let lines: string;

beforeAll(async () => {
  server = createServer((request, answer) => {
    const issuer = `http://${request.headers.host}`;
    const isDiscovery = request.url?.startsWith('/.well-known/');
    answer.writeHead(isDiscovery ? 200 : 400, { 'Content-Type': 'application/json' });
    answer.end(
      JSON.stringify(
        isDiscovery
          ? {
              issuer,
              authorization_endpoint: `${issuer}/auth`,
              token_endpoint: `${issuer}/token`,
              jwks_uri: `${issuer}/jwks`,
            }
          : { error: 'invalid_grant', error_description: `${person} may not sign in` },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const config = readConfig({
    CONSOLE_JWT_SECRET: 'a-console-secret-for-tests-only-0123456789',
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    CONSOLE_OIDC_ISSUER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    CONSOLE_OIDC_CLIENT_ID: 'loyalty',
    CONSOLE_OIDC_CLIENT_SECRET: 'a-client-secret',
  });
  const write = (line: string) => {
    lines += line;
  };
  const made = createOidc({ config, log: createLog(config, 'test', { destination: { write } }) });
  if (!made) throw new Error('The settings name a provider.');
  oidc = made;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  lines = '';
});

const stateOf = async (secret: string) => (await oidc.begin(secret)).searchParams.get('state');

describe('the log of a sign-in that is refused', () => {
  it('by the token endpoint has the code of the error, and not its text', async () => {
    const search = `?code=some-code&state=${await stateOf('secret')}`;
    expect(await oidc.finish('secret', search)).toBeNull();
    expect(JSON.parse(lines)).toMatchObject({ reason: 'OAUTH_RESPONSE_BODY_ERROR', answer: 'invalid_grant' });
    expect(lines).not.toContain('lovelace');
  });

  it('by the callback has the code of the error, if it is one, and not its text', async () => {
    const state = await stateOf('secret');
    const callback = (error: string) => {
      lines = '';
      return oidc.finish('secret', `?${new URLSearchParams({ error, error_description: person, state: state ?? '' })}`);
    };
    expect(await callback('access_denied')).toBeNull();
    expect(JSON.parse(lines)).toMatchObject({ reason: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', answer: 'access_denied' });
    expect(lines).not.toContain('lovelace');
    expect(await callback(`${person}${'x'.repeat(2_000)}`)).toBeNull();
    expect(JSON.parse(lines)).not.toHaveProperty('answer');
    expect(lines).not.toContain('lovelace');
    expect(lines.length).toBeLessThan(500);
  });
});
