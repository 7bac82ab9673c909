// The servers that the engines need, each in a temporary folder and on a free port of this machine. Each syncs its
// commits, as MongoDB does.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../stack/engines/onPath.js';
import { accepts, findPort } from '../../stack/ports.js';
import { until } from '../../stack/until.js';
import { restateServer } from './engines/restateServer.js';
import { type ProcessList, succeeded } from './processList.js';

const host = '127.0.0.1';
const initWithinMs = 60_000;
const listeningWithinMs = 30_000;
const endingWithinMs = 10_000;

export interface Store {
  pid: number;
  address: string;
  /** Of Restate's administration. */
  admin?: string;
  stop: () => Promise<void>;
}

/** Each throws the reason when its server is not installed or does not start. */
export const stores = { postgres: startPostgres, redis: startRedis, restate: startRestate } satisfies Record<
  string,
  (processes: ProcessList) => Promise<Store>
>;

function folderFor(processes: ProcessList, name: string): string {
  let folder = '';
  // Before it is made, because a list that has ended would not remove it.
  processes.onEnded(() => folder && rmSync(folder, { recursive: true, force: true }));
  folder = mkdtempSync(join(tmpdir(), `loyalty-pass-bench-${name}-`));
  return folder;
}

/** Resolves when the server accepts connections at all of these ports. */
async function listening(
  server: ChildProcess,
  name: string,
  ports: readonly number[],
): Promise<Pick<Store, 'pid' | 'stop'>> {
  const signal = AbortSignal.timeout(listeningWithinMs);
  const isUp = async () => {
    if (server.exitCode !== null) throw new Error(`${name} ended with ${server.exitCode}.`);
    return (await Promise.all(ports.map((port) => accepts(host, port)))).every(Boolean);
  };
  await until(async () => server.exitCode !== null || (await isUp()), 20, signal);
  await isUp();
  return {
    pid: server.pid ?? 0,
    async stop() {
      const ended = once(server, 'exit');
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill('SIGTERM');
      const late = setTimeout(() => server.kill('SIGKILL'), endingWithinMs);
      await ended;
      clearTimeout(late);
    },
  };
}

export async function startRedis(processes: ProcessList): Promise<Store> {
  const program = findOnPath('redis-server', process.env);
  if (program === undefined) throw new Error('no redis-server is installed (Debian: apt-get install redis-server)');
  const port = await findPort(host);
  const args = ['--port', String(port), '--bind', host, '--dir', folderFor(processes, 'redis')];
  const server = processes.add(
    spawn(program, [...args, '--appendonly', 'yes', '--save', ''], { stdio: 'ignore', detached: true }),
  );
  return { ...(await listening(server, 'redis-server', [port])), address: `redis://${host}:${port}` };
}

/** Debian keeps the programs of each version in a folder that is not on the PATH. */
function postgresFolder(): string | undefined {
  const versions = '/usr/lib/postgresql';
  const path = findOnPath('initdb', process.env);
  if (path !== undefined) return join(path, '..');
  try {
    const newest = readdirSync(versions).toSorted((one, other) => Number(other) - Number(one));
    return newest.map((version) => join(versions, version, 'bin')).find((bin) => findOnPath('initdb', { PATH: bin }));
  } catch {
    return undefined;
  }
}

/** PostgreSQL refuses to run as root. */
function postgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  if (uid === undefined) throw new Error('PostgreSQL does not run as root, and there is no user postgres');
  return { uid: Number(uid), gid: Number(gid) };
}

export async function startPostgres(processes: ProcessList): Promise<Store> {
  const bin = postgresFolder();
  if (bin === undefined) throw new Error('no PostgreSQL is installed (Debian: apt-get install postgresql)');
  const user = postgresUser();
  const folder = folderFor(processes, 'postgres');
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const args = ['--pgdata', data, '--username', 'bench', '--auth', 'trust', '--encoding', 'UTF8', '--no-locale'];
  const making = spawn(join(bin, 'initdb'), args, { cwd: folder, stdio: 'ignore', detached: true, ...user });
  await succeeded(processes, making, 'initdb', initWithinMs);
  const port = await findPort(host);
  const settings = [`port=${port}`, `listen_addresses=${host}`, 'unix_socket_directories=', 'max_connections=200'];
  const server = processes.add(
    spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
      cwd: folder,
      stdio: 'ignore',
      detached: true,
      ...user,
    }),
  );
  return { ...(await listening(server, 'postgres', [port])), address: `postgres://bench@${host}:${port}` };
}

export async function startRestate(processes: ProcessList): Promise<Store> {
  const program = restateServer();
  const [node, ingress, admin] = [await findPort(host), await findPort(host), await findPort(host)];
  const server = processes.add(
    spawn(program, ['--base-dir', folderFor(processes, 'restate')], {
      stdio: 'ignore',
      detached: true,
      env: {
        ...process.env,
        RESTATE_DISABLE_TELEMETRY: 'true',
        RESTATE_LOG_FILTER: 'error',
        RESTATE_LISTEN_MODE: 'tcp',
        RESTATE_BIND_IP: host,
        RESTATE_BIND_PORT: String(node),
        RESTATE_INGRESS__BIND_PORT: String(ingress),
        RESTATE_ADMIN__BIND_PORT: String(admin),
      },
    }),
  );
  return {
    ...(await listening(server, 'restate-server', [ingress, admin])),
    address: `http://${host}:${ingress}`,
    admin: `http://${host}:${admin}`,
  };
}
