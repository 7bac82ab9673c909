// The samples of stack/proxy, each started as they are but for the name, the certificate and the addresses.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { findPort } from '../../../stack/ports.js';
import { startReaper } from '../../../stack/reaper.js';
import { signalGroup } from '../../../stack/signalGroup.js';
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
    ...[' max_fails=1 fail_timeout=5s;', ' max_fails=0 backup;'].map(
      (how) => [`server 127.0.0.1:3000${how}`, apis.map((api) => `server ${api}${how}`).join('\n')] as const,
    ),
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

export interface SampleProxy {
  address: string;
  /** Of http; only nginx listens there. */
  plainAddress: string;
  /** PEM of the authority of its certificate. */
  ca: string;
  dispatcher: Agent;
  /** Waits until `path` answers with 200. */
  start(path: string): Promise<void>;
  /** At once, in the middle of answers; it can be started again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Not yet started. */
export async function proxyOf(name: ProxyName, apis: readonly string[]): Promise<SampleProxy> {
  const authority = createTestAuthority();
  const issued = authority.issue([host]);
  const site = `${host}:${await findPort(host)}`;
  const plain = `${host}:${await findPort(host)}`;
  const address = `https://${site}`;
  const dispatcher = new Agent({ connect: { ca: authority.ca } });
  let end = async (_signal: NodeJS.Signals): Promise<void> => {};

  function argumentsIn(folder: string): string[] {
    const file = (each: string, content: string): string => {
      writeFileSync(join(folder, each), content);
      return join(folder, each);
    };
    const place = { apis, certificate: file('site.pem', issued.cert), key: file('site.key', issued.key) };
    if (name === 'nginx')
      return [
        ...['-p', folder, '-c', file('nginx.conf', nginxConf({ ...place, site, plain, folder }))],
        ...['-g', 'daemon off;'],
      ];
    const options = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n';
    return [
      ...['run', '--adapter', 'caddyfile', '--config'],
      file('Caddyfile', `${options}${caddyfile({ ...place, site: address })}`),
    ];
  }

  return {
    ...{ address, plainAddress: `http://${plain}`, ca: authority.ca, dispatcher },
    async start(path) {
      const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-proxy-'));
      end = async () => rmSync(folder, { recursive: true, force: true });
      const said: string[] = [];
      try {
        const child = spawn(programs[name], argumentsIn(folder), {
          env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
          stdio: ['ignore', 'ignore', 'pipe'],
          // A group of its own: nginx killed alone would leave its workers.
          detached: true,
        });
        const reaper = startReaper();
        reaper.watch(child.pid === undefined ? [] : [child.pid]);
        const ended = new Promise((resolve) => child.once('close', resolve));
        end = async (signal) => {
          if (signal === 'SIGKILL') signalGroup(child, signal);
          else child.kill(signal);
          await ended;
          reaper.dismiss();
          rmSync(folder, { recursive: true, force: true });
        };
        child.once('error', (error) => said.push(String(error)));
        child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
        const answers = async (): Promise<boolean> => {
          const answer = await fetch(`${address}${path}`, { dispatcher });
          await answer.arrayBuffer();
          return answer.ok;
        };
        await until(answers, { throwingIsNo: true, withinMs: 30_000, seen: () => said });
      } catch (error) {
        await end('SIGKILL');
        throw error;
      }
    },
    kill: () => end('SIGKILL'),
    async stop() {
      await dispatcher.destroy();
      await end('SIGTERM');
    },
  };
}

/** `path` answers with 200 when the proxy and what is behind it have started. */
export async function startProxy(
  name: ProxyName,
  { apis, path }: { apis: readonly string[]; path: string },
): Promise<SampleProxy> {
  const proxy = await proxyOf(name, apis);
  await proxy.start(path);
  return proxy;
}
