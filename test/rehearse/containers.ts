// Starts and ends the containers of the rehearsed compose file, and looks at them.
import assert from 'node:assert/strict';
import { type ExecFileException, execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../rig/checks/until.js';
import type { Rules } from './composeFile.js';

const run = promisify(execFile);
const big = { maxBuffer: 64 * 1024 * 1024 };

export interface Containers {
  /** Starts all in the order of the file, and waits for those whose health others wait for. */
  up(services?: readonly string[]): Promise<void>;
  /** Runs a program of a service's container and returns what it prints. */
  exec(service: string, ...command: string[]): Promise<string>;
  /** Runs the service, or another command, in a container of its own, with `mount` of this machine if it is given. */
  runOnce(service: string, options?: { mount?: string; command?: readonly string[] }): Promise<string>;
  /** Stops the container and makes it again, from what the name of its image means now. */
  replace(service: string): Promise<void>;
  /** Fails unless the container ends with exit 0 within its grace. */
  stop(service: string): Promise<void>;
  podman(action: string, service: string, ...options: string[]): Promise<string>;
  inspect(service: string): Promise<Inspected>;
  /** Waits until the container is healthy, or runs where it has no check. */
  healthy(service: string): Promise<void>;
  /** Removes containers and volumes at once, with all that they hold. */
  lose(services: readonly string[], volumes: readonly string[]): Promise<void>;
  /** Writes what each container has printed into a file of the folder. */
  keepLogs(folder: string): Promise<void>;
  /** Ends everything and removes the volumes. */
  down(): Promise<void>;
}

export interface Inspected {
  State: { Running: boolean; ExitCode: number; OOMKilled: boolean };
  Config: { User: string; Env: string[] };
  HostConfig: { ReadonlyRootfs: boolean; SecurityOpt: string[]; Memory: number };
  EffectiveCaps: string[] | null;
}

function secondsOf(grace: string): number {
  const [, seconds] = /^(\d+)s$/.exec(grace) ?? [];
  assert.ok(seconds, `${grace} is no number of seconds`);
  return Number(seconds);
}

/** A look starts two processes. */
const lookMs = 2_000;
const healthyMs = 300_000;

export function containersOf(compose: {
  bin: string;
  file: string;
  name: string;
  rules: Rules;
  env: NodeJS.ProcessEnv;
}): Containers {
  const { bin, file, name, rules, env } = compose;
  const options = { ...big, env };
  const container = (service: string) => `${name}_${service}_1`;
  const podman = async (action: string, service: string, ...given: string[]): Promise<string> =>
    (await run('podman', [action, ...given, container(service)], options)).stdout;
  const inspect = async (service: string): Promise<Inspected> => JSON.parse(await podman('inspect', service))[0];
  // Without systemd podman runs no health checks by itself.
  const check = (service: string): Promise<boolean> =>
    run('podman', ['healthcheck', 'run', container(service)], options).then(
      () => true,
      (error: ExecFileException) => /no defined healthcheck/.test(`${error.message}`),
    );
  const wait = (service: string) => ({
    withinMs: healthyMs,
    everyMs: lookMs,
    seen: () => podman('logs', service, '--tail', '20'),
  });
  const healthy = async (service: string): Promise<void> => {
    await until(async () => (await inspect(service)).State.Running && (await check(service)), wait(service));
  };
  const completed = async (service: string): Promise<void> => {
    await until(async () => {
      const { Running, ExitCode } = (await inspect(service)).State;
      return !Running && ExitCode === 0;
    }, wait(service));
  };
  const stop = async (service: string): Promise<void> => {
    // Docker's own is 10 s.
    const { stop_grace_period: grace = '10s' } = rules[service] ?? {};
    await podman('stop', service, '--time', String(secondsOf(grace)));
    const { ExitCode } = (await inspect(service)).State;
    assert.equal(ExitCode, 0, `${service} ends with ${ExitCode} after SIGTERM`);
  };
  const started = new Map<string, Promise<void>>();
  const start = (service: string): Promise<void> => {
    const starting = started.get(service) ?? startAfterOthers(service);
    started.set(service, starting);
    return starting;
  };
  const startAfterOthers = async (service: string): Promise<void> => {
    for (const [other, { condition }] of Object.entries(rules[service]?.depends_on ?? {})) {
      await start(other);
      await (condition === 'service_healthy' ? healthy(other) : completed(other));
    }
    await run(bin, ['--file', file, 'up', '--detach', service], options);
  };
  return {
    async up(services = Object.keys(rules)) {
      for (const service of services) await start(service);
    },
    async lose(services, volumes) {
      for (const service of services) {
        await podman('rm', service, '--force', '--time', '0');
        started.delete(service);
      }
      for (const volume of volumes) await run('podman', ['volume', 'rm', `${name}_${volume}`], options);
    },
    exec: async (service, ...command) =>
      (await run('podman', ['exec', container(service), ...command], options)).stdout,
    async runOnce(service, { mount, command = [] } = {}) {
      const mounted = mount === undefined ? [] : ['--volume', mount];
      const once = ['--file', file, 'run', '--rm', '--no-deps', ...mounted, service, ...command];
      return (await run(bin, once, options)).stdout;
    },
    stop,
    async replace(service) {
      await stop(service);
      await podman('rm', service);
      await run(bin, ['--file', file, 'up', '--detach', service], options);
      await healthy(service);
    },
    podman,
    inspect,
    healthy,
    async keepLogs(folder) {
      await mkdir(folder, { recursive: true });
      for (const service of started.keys()) {
        const { stdout, stderr } = await run('podman', ['logs', '--timestamps', container(service)], options);
        await writeFile(join(folder, `${service}.log`), `${stdout}${stderr}`);
      }
    },
    async down() {
      await run(bin, ['--file', file, 'down', '--volumes', '--timeout', '5'], options);
    },
  };
}
