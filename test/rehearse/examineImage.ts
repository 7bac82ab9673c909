// What a security reader looks for in the image: who runs it, which programs and packages are in it, what it may write,
// and whether a layer, also one that a later layer hides, holds a secret.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const big = { maxBuffer: 256 * 1024 * 1024 };

/** Of the compose file and the Kubernetes example. */
const ports = ['3000/tcp', '9464/tcp', '9465/tcp'];
/** Node's image names the versions of its programs. */
const variables = ['PATH', 'NODE_VERSION', 'YARN_VERSION', 'NODE_ENV', 'MALLOC_ARENA_MAX'];
const needless = [
  ...['npm', 'npx', 'corepack', 'yarn', 'yarnpkg', 'pnpm', 'git', 'curl', 'wget', 'gcc', 'cc', 'make', 'python3'],
  ...['ssh', 'nc', 'sudo', 'tsx', 'tsc'],
];
/** Files that hold secrets by their names, or that belong to a build. */
const unwanted = [
  /(^|\/)(\.npmrc|\.env|settings\.env|\.git|\.ssh|\.secrets|\.stack|id_rsa|id_ed25519)(\/|$)/,
  /\.(p8|p12|pfx|keystore)$/,
  /^app\/(test|console|docs|\.npm|\.cache)\//,
  /^(root|home\/node)\/(\.npm|\.cache)\//,
];
const privateKey = /-----BEGIN (?:RSA |EC |ENCRYPTED |OPENSSH )?PRIVATE KEY-----\s+[A-Za-z0-9+/=]{60}/;
/** Not of the image: any user may write there in every container. */
const forAll = /^\/(proc|sys|dev|tmp|var\/tmp|run\/lock)(\/|$)/;

const shape = z.object({
  Config: z.object({
    User: z.string(),
    Env: z.array(z.string()),
    ExposedPorts: z.record(z.string(), z.unknown()),
    Volumes: z.record(z.string(), z.unknown()).nullish(),
  }),
});
const bill = z.object({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(z.object({ name: z.string(), version: z.string() })),
});

type Inside = (script: string, ...options: string[]) => Promise<string[]>;

export async function examineImage(image: string, say: (line: string) => void): Promise<void> {
  const { stdout } = await run('podman', ['image', 'inspect', image], big);
  const { Config } = z.array(shape).min(1).parse(JSON.parse(stdout))[0] ?? assert.fail();
  assert.equal(Config.User, 'node');
  assert.deepEqual(Object.keys(Config.ExposedPorts).toSorted(), ports);
  assert.deepEqual(Object.keys(Config.Volumes ?? {}), []);
  const names = Config.Env.map((variable) => variable.split('=')[0] ?? '');
  assert.deepEqual(
    names.filter((name) => !variables.includes(name)),
    [],
    'the image sets no other variable',
  );

  const inside: Inside = async (script, ...options) => {
    const args = ['run', '--rm', '--network', 'none', ...options, image, 'sh', '-c', script];
    return (await run('podman', args, big)).stdout.split('\n').filter((line) => line !== '');
  };
  assert.deepEqual(await inside(`for name in ${needless.join(' ')}; do command -v $name; done; true`), []);
  assert.deepEqual(
    await inside('find / -xdev -type f -perm /6000', '--user', 'root'),
    [],
    'no program runs as another user',
  );
  const writable = 'find / -xdev \\( -type f -o -type d \\) -writable -not -path "/home/node*" 2>/dev/null; true';
  assert.deepEqual(
    (await inside(writable)).filter((path) => !forAll.test(path)),
    [],
    'the service can change none of its own files',
  );
  const packages = await examineBill(inside);
  const layers = await examineLayers(image);
  say(`the image runs as ${Config.User}, lists its ${packages} packages, and has no secret in its ${layers} layers`);
}

/** The bill of materials names each package that is in the image, in its version. Returns how many there are. */
async function examineBill(inside: Inside): Promise<number> {
  const { components } = bill.parse(JSON.parse((await inside('cat /app/sbom.cdx.json')).join('\n')));
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const found = await inside(
    `find /app/node_modules -name package.json -path '*/node_modules/*' -exec node -e '
      for (const file of process.argv.slice(1)) {
        const { name, version } = JSON.parse(require("node:fs").readFileSync(file, "utf8"));
        if (name && version && file.endsWith("/node_modules/" + name + "/package.json")) console.log(name + "@" + version);
      }' {} +`,
  );
  assert.ok(found.length > 100);
  assert.deepEqual(
    found.filter((one) => !listed.has(one)),
    [],
    'the bill of materials names every package',
  );
  return found.length;
}

/** Returns how many layers there are. */
async function examineLayers(image: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-layers-'));
  try {
    await run('podman', ['save', '--format', 'docker-archive', '--output', join(folder, 'image.tar'), image], big);
    await run('tar', ['-C', folder, '-xf', join(folder, 'image.tar')]);
    const manifest = z.array(z.object({ Layers: z.array(z.string()) }));
    const [one] = manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')));
    const layers = one?.Layers ?? [];
    assert.ok(layers.length > 0);
    for (const layer of layers) await examineLayer(join(folder, layer));
    return layers.length;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function examineLayer(layer: string): Promise<void> {
  const { stdout } = await run('tar', ['-tvf', layer], big);
  // Without files of no bytes, at which a build mounts others.
  const files = stdout
    .split('\n')
    .flatMap((line) => /^-\S+ \S+ +([1-9]\d*) \S+ \S+ (?:\.\/)?(.+)$/.exec(line)?.[2] ?? []);
  assert.deepEqual(
    files.filter((file) => unwanted.some((form) => form.test(file))),
    [],
  );
  // GnuTLS tries itself with keys that are in its library.
  const tar = spawn('tar', ['-xOf', layer, '--exclude=*/libgnutls.so.*'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(tar, 'close');
  let rest = '';
  for await (const chunk of tar.stdout.setEncoding('latin1')) {
    const text = `${rest}${chunk}`;
    assert.ok(!privateKey.test(text), 'a layer holds a private key');
    rest = text.slice(-4_096);
  }
  assert.deepEqual(await ended, [0, null]);
}
