// The samples of stack/proxy, each started as they are but for the name, the certificate and the addresses.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { findPort } from '../../../stack/ports.js';
import { until } from '../checks/until.js';
import { createTestAuthority } from '../standins/certificates.js';

const host = '127.0.0.1';
const samples = join(import.meta.dirname, '..', '..', '..', 'stack', 'proxy');

/** Throws when the sample no longer has one of the texts. */
function changed(name: string, changes: readonly (readonly [from: string, to: string])[]): string {
  let text = readFileSync(join(samples, name), 'utf8');
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

interface Place {
  /** The address at which Caddy listens. */
  site: string;
  /** Paths of PEM files. */
  certificate: string;
  key: string;
  apis: readonly string[];
}

/** Without names Caddy obtains no certificate; it redirects http on port 80 only for a name. */
const caddyfile = ({ site, certificate, key, apis }: Place): string =>
  changed('Caddyfile', [
    ['\npoints.example.com {\n', `\n${site} {\n\ttls ${certificate} ${key}\n`],
    ['reverse_proxy 127.0.0.1:3000 {', `reverse_proxy ${apis.join(' ')} {`],
  ]);

function nginxConf({ site, plain, certificate, key, apis, folder }: Place & { plain: string; folder: string }): string {
  const text = changed('nginx.conf', [
    ['listen 443 ', `listen ${site} `],
    ['listen 80;', `listen ${plain};`],
    ['server_name points.example.com;', `server_name ${host};`],
    ['/etc/ssl/points.example.com.pem', certificate],
    ['/etc/ssl/points.example.com.key', key],
    ['server 127.0.0.1:3000 max_fails=0;', apis.map((api) => `server ${api} max_fails=0;`).join('\n')],
  ]);
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const folders = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');
  return `user root; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${folders} ${text} }`;
}

export const proxyNames = ['nginx', 'Caddy'] as const;
export type ProxyName = (typeof proxyNames)[number];
const programs = { nginx: '/usr/sbin/nginx', Caddy: '/usr/bin/caddy' };

export const isInstalled = (name: ProxyName): boolean => existsSync(programs[name]);

/** Before 2.11.2 Caddy loses the body of a request that an API refused. */
export function isOldCaddy(name: ProxyName): boolean {
  if (name === 'nginx') return false;
  const version = execFileSync(programs.Caddy, ['version'], { encoding: 'utf8' });
  const [major = 0, minor = 0, patch = 0] = (version.match(/\d+/g) ?? []).map(Number);
  return major * 1e6 + minor * 1e3 + patch < 2_011_002;
}

export interface RunningProxy {
  address: string;
  /** Of http; only nginx listens there. */
  plainAddress: string;
  /** PEM of the authority of its certificate. */
  ca: string;
  dispatcher: Agent;
  stop(): Promise<void>;
}

/** `path` answers with 200 when the proxy and what is behind it have started. */
export async function startProxy(
  name: ProxyName,
  { apis, path }: { apis: readonly string[]; path: string },
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-proxy-'));
  const authority = createTestAuthority();
  const issued = authority.issue([host]);
  const file = (each: string, content: string): string => {
    writeFileSync(join(folder, each), content);
    return join(folder, each);
  };
  const site = `${host}:${await findPort(host)}`;
  const plain = `${host}:${await findPort(host)}`;
  const address = `https://${site}`;
  const place = { apis, certificate: file('site.pem', issued.cert), key: file('site.key', issued.key) };
  const args =
    name === 'nginx'
      ? ['-p', folder, '-c', file('nginx.conf', nginxConf({ ...place, site, plain, folder })), '-g', 'daemon off;']
      : [
          ...['run', '--adapter', 'caddyfile', '--config'],
          file(
            'Caddyfile',
            `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${caddyfile({ ...place, site: address })}`,
          ),
        ];
  const child = spawn(programs[name], args, {
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  const ended = once(child, 'exit');
  const dispatcher = new Agent({ connect: { ca: authority.ca } });
  await until(async () => (await fetch(`${address}${path}`, { dispatcher })).ok, {
    throwingIsNo: true,
    withinMs: 30_000,
    seen: () => said,
  });
  return {
    ...{ address, plainAddress: `http://${plain}`, ca: authority.ca, dispatcher },
    async stop() {
      await dispatcher.close();
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
