// Runs the tests that need no whole cluster under each other major version of Node that is installed where version
// managers and CI images put it, or that NODES lists (paths of binaries, separated as in PATH).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { couldNotRun } from './parts.js';

const oldest = 20;
const homes: [folder: string, binary: string][] = [
  [join(homedir(), '.nvm/versions/node'), 'bin/node'],
  [join(homedir(), '.nodenv/versions'), 'bin/node'],
  [join(homedir(), '.local/share/fnm/node-versions'), 'installation/bin/node'],
  [join(homedir(), '.local/share/mise/installs/node'), 'bin/node'],
  ['/opt/hostedtoolcache/node', 'x64/bin/node'],
  ['/usr/local/n/versions/node', 'bin/node'],
];

function installed(): string[] {
  if (process.env.NODES) return process.env.NODES.split(delimiter);
  return homes.flatMap(([folder, binary]) =>
    existsSync(folder) ? readdirSync(folder).map((version) => join(folder, version, binary)) : [],
  );
}

const majorOf = (version: string): number => Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);

const others = new Map<number, { binary: string; version: string }>();
for (const binary of installed()) {
  if (!existsSync(binary)) continue;
  const version = execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim();
  const major = majorOf(version);
  if (major >= oldest && major !== majorOf(process.version)) others.set(major, { binary, version });
}
if (others.size === 0) {
  console.log(`No other Node than ${process.version} is installed here; NODES can name some.`);
  process.exit(couldNotRun);
}

let failed = false;
for (const { binary, version } of others.values()) {
  console.log(`Node ${version}`);
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...['unit', 'wire', 'workflow', 'engines'].flatMap((name) => ['--project', name]),
  ];
  failed ||= spawnSync(binary, args, { stdio: 'inherit' }).status !== 0;
}
process.exit(failed ? 1 : 0);
