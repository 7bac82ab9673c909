// Checks docker-compose.yml without docker, against the schema of the Compose Specification and against rules that the
// schema cannot express.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../../platform/config/loadConfig.js';
import { configNames } from '../../../schemas/shared/config.schema.js';
import { searchAttributeNames } from '../../../schemas/shared/searchAttributes.js';
import { guideFile, guides } from '../../../stack/guides.js';
import composeSpec from '../../rig/checks/composeSpec.json' with { type: 'json' };

const root = join(import.meta.dirname, '..', '..', '..');
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const raw: unknown = parse(text('docker-compose.yml'), { merge: true });

const serviceShape = z.object({
  image: z.string(),
  restart: z.string(),
  mem_limit: z.string(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z.array(z.string()).default([]),
  env_file: z.array(z.object({ path: z.string(), required: z.boolean() })).optional(),
  volumes: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
});
const { services, secrets, volumes } = z
  .object({
    services: z.record(z.string(), serviceShape),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(raw);

const all = Object.entries(services);
const once = all.filter(([, service]) => service.restart === 'on-failure:5').map(([name]) => name);
const ours = ['migrate', 'api', 'worker'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-secrets-'));
  execFileSync('sh', [join(root, 'stack/compose/makeSecrets.sh')], { env: { ...process.env, SECRETS_DIR: folder } });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The value that Compose substitutes when the user sets none. */
const substituted = (value: string) => value.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll('$$', '$');

describe('the compose file', () => {
  it('is valid by the Compose Specification', () => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(composeSpec);
    validate(raw);
    expect(validate.errors).toBeNull();
    expect(validate({ services: { api: { imago: 'x' } } })).toBe(false);
  });

  it.each(all)(
    '%s has a pinned image, a restart policy, a memory limit and no port that is open beyond this machine',
    (_name, service) => {
      expect(service.image).toMatch(/:\d+\.\d+(\.\d+)?(-[a-z]+)?(@sha256:[0-9a-f]{64})?$/);
      expect(service.restart).toMatch(/^(unless-stopped|on-failure:5)$/);
      expect(service.mem_limit).toMatch(/^\d+(m|g)$/);
      expect(service.security_opt).toContain('no-new-privileges:true');
      for (const port of service.ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    },
  );

  it('has a health check for every permanent service', () => {
    const staying = all.filter(([name]) => !once.includes(name));
    expect(staying.filter(([, service]) => !service.healthcheck)).toEqual([]);
    expect(once.sort()).toEqual(['migrate', 'mongodb-init', 'temporal-namespace', 'temporal-schema']);
  });

  it('waits for services that exist, until they are healthy or done', () => {
    for (const [name, service] of all) {
      for (const [other, { condition }] of Object.entries(service.depends_on)) {
        const wanted = once.includes(other) ? 'service_completed_successfully' : 'service_healthy';
        expect([name, other, condition]).toEqual([name, other, wanted]);
        expect(services[other]).toBeDefined();
      }
    }
  });

  it('mounts only files and volumes that exist', () => {
    for (const mount of all.flatMap(([, service]) => service.volumes)) {
      const [source = ''] = mount.split(':');
      expect([source, source.startsWith('./') ? existsSync(join(root, source)) : source in volumes]).toEqual([
        source,
        true,
      ]);
    }
  });

  it('has every secret as a file from makeSecrets.sh, and none in an environment', () => {
    for (const [name, { file }] of Object.entries(secrets)) {
      expect(substituted(file)).toBe(`./.secrets/${name}`);
      expect([name, existsSync(join(folder, name))]).toEqual([name, true]);
    }
    for (const used of all.flatMap(([, service]) => service.secrets)) expect(Object.keys(secrets)).toContain(used);
    for (const [, service] of all)
      for (const [name, value] of Object.entries(service.environment))
        if (/PASSWORD|SECRET|_KEY(?!_ID)|URI|REDIS_URL/.test(name))
          expect([name, value]).toEqual([name, expect.stringMatching(/^\/run\/secrets\//)]);
  });

  it('makes secrets that their owner may change and every container may read', () => {
    for (const name of Object.keys(secrets))
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o644]);
  });

  it('keeps an existing secret', () => {
    const before = readFileSync(join(folder, 'secrets_key'), 'utf8');
    execFileSync('sh', [join(root, 'stack/compose/makeSecrets.sh')], { env: { ...process.env, SECRETS_DIR: folder } });
    expect(readFileSync(join(folder, 'secrets_key'), 'utf8')).toBe(before);
    expect(statSync(folder).mode & 0o077).toBe(0);
  });
});

describe.each(ours)('the service %s', (name) => {
  const service = services[name];
  const given = Object.entries(service?.environment ?? {}).filter(([variable]) => variable !== 'NODE_OPTIONS');

  it('gets only settings that the configuration knows', () => {
    const known = [...configNames, ...configNames.map((known) => `${known}_FILE`)];
    expect(given.filter(([variable]) => !known.includes(variable))).toEqual([]);
    expect(given.length).toBeGreaterThan(10);
  });

  it('has a complete and valid configuration, with secrets from makeSecrets.sh', () => {
    const env = given.map(([variable, value]) => [variable, substituted(value).replace('/run/secrets', folder)]);
    const config = loadConfig(Object.fromEntries(env));
    expect(config).toMatchObject({ HOST: '0.0.0.0', TEMPORAL_ADDRESS: 'temporal:7233', APPLE_SIGNER_KEY: undefined });
    expect(config.MONGODB_URI).toMatch(/^mongodb:\/\/loyalty:\w+@mongodb:27017\/\?replicaSet=rs0/);
    expect(config.REDIS_URL).toMatch(/^redis:\/\/:\w+@redis:6379$/);
  });

  it('takes every other setting from a file that may be missing', () => {
    expect(service?.env_file).toEqual([{ path: '.env', required: false }]);
    expect(text('.gitignore').split('\n')).toContain('.env');
  });

  it('can read every file that its settings name', () => {
    const named = given.flatMap(([, value]) =>
      value.startsWith('/run/secrets/') ? [value.slice('/run/secrets/'.length)] : [],
    );
    expect(service?.secrets.toSorted()).toEqual(named.toSorted());
  });

  it('runs without a writable root, without capabilities, and with a file that the image builds', () => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], image: 'loyalty-pass-service:0.1.0' });
    const [, path = ''] = service?.command ?? [];
    expect(existsSync(join(root, path.replace(/^dist\//, '').replace(/\.js$/, '.ts')))).toBe(true);
  });
});

describe('the image', () => {
  const dockerfile = text('Dockerfile');

  it('is built in stages on one pinned glibc base, and does not run as root', () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(bases).toHaveLength(3);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^node:22\.23\.2-bookworm-slim@sha256:[0-9a-f]{64}$/);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toContain('npm ci --omit=dev');
  });

  it('gets everything that its build reads, despite .dockerignore', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
      sources.split(' '),
    );
    const allowed = text('.dockerignore').split('\n');
    for (const source of copied) {
      expect([source, existsSync(join(root, source))]).toEqual([source, true]);
      expect(allowed).toContain(`!${source}`);
    }
    const pages = readdirSync(join(root, 'console'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    );
    const imported = pages.flatMap((page) =>
      [...text(`console/${page}`).matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) =>
        join('console', dirname(page), path),
      ),
    );
    const read = [...imported, ...Object.keys(guides).map(guideFile)].map((path) => path.split('/')[0]);
    expect([...new Set(read)].filter((folder = '') => !copied.includes(folder))).toEqual([]);
  });
});

describe('Temporal', () => {
  it('gets the search attributes that the workflows set', () => {
    const script = text('stack/compose/setUpTemporalNamespace.sh');
    expect(/^for attribute in (.+); do$/m.exec(script)?.[1]?.split(' ')).toEqual([...searchAttributeNames]);
    expect(substituted(services['temporal-namespace']?.environment.TEMPORAL_RETENTION ?? '')).toBe('72h');
  });

  it('has 512 history shards and fairness', () => {
    expect(services.temporal?.environment.NUM_HISTORY_SHARDS).toBe('512');
    const dynamic: unknown = parse(text('stack/compose/temporalDynamicConfig.yaml'));
    expect(dynamic).toMatchObject({ 'matching.enableFairness': [{ value: true }] });
  });
});
