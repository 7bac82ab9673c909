// What is installed, downloaded and shipped: pinned by digest, listed in the bill of materials, and only what runs.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { judge } from '../../long/audit.js';
import { couldNotRun } from '../../long/parts.js';

const root = join(import.meta.dirname, '..', '..', '..');
const text = (path: string) => readFileSync(join(root, path), 'utf8');

const names = z.record(z.string(), z.string());
const manifest = z.object({ dependencies: names, devDependencies: names }).parse(JSON.parse(text('package.json')));
const locked = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        /** The package behind an alias. */
        name: z.string().optional(),
        version: z.string().optional(),
        integrity: z.string().optional(),
        dev: z.boolean().optional(),
        dependencies: names.default({}),
        optional: z.boolean().optional(),
        os: z.array(z.string()).default([]),
        cpu: z.array(z.string()).default([]),
        libc: z.array(z.string()).default([]),
      }),
    ),
  })
  .parse(JSON.parse(text('package-lock.json'))).packages;
const installed = Object.entries(locked).filter(([path]) => path !== '');

const licence = z.object({
  license: z.object({ id: z.string().optional(), name: z.string().optional() }).optional(),
  expression: z.string().optional(),
});
const permitted = [
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'Unlicense'],
  // Of a font, of data, and of libraries that are linked unchanged.
  ...['OFL-1.1', 'CC-BY-4.0', 'MPL-2.0', 'LGPL-3.0-or-later'],
];
/** One of those joined by OR, each of those joined by AND. */
const isPermitted = (expression: string): boolean =>
  expression.split(' AND ').every((part) =>
    part
      .replaceAll(/[()]/g, '')
      .split(' OR ')
      .some((one) => permitted.includes(one)),
  );

const pinned = /@sha256:[0-9a-f]{64}$/;

describe('images and actions', () => {
  it('are pinned by digest, except those whose digest is not known yet', () => {
    const { services } = z
      .object({ services: z.record(z.string(), z.object({ image: z.string() })) })
      .parse(parse(text('docker-compose.yml'), { merge: true }));
    const composed = Object.values(services).map(({ image }) => image);
    const bases = [...text('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base);
    const open = new Set([...composed, ...bases].filter((image) => !pinned.test(image)));
    // Our own image is built here. docs/decisions/engines-from-the-registries.md says how to pin the other one.
    expect([...open].sort()).toEqual(['loyalty-pass-service:0.1.0', 'temporalio/ui:2.54.1']);
  });

  it('of GitHub are pinned by commit', () => {
    const folder = '.github/workflows';
    const used = readdirSync(join(root, folder)).flatMap((file) =>
      [...text(`${folder}/${file}`).matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action),
    );
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });
});

describe('the lock file', () => {
  it('has a checksum for every package that is installed on Linux with glibc, on x64 and arm64', () => {
    const isElsewhere = ({ os, cpu, libc }: (typeof installed)[number][1]) =>
      (os.length > 0 && !os.includes('linux')) ||
      (cpu.length > 0 && !cpu.includes('x64') && !cpu.includes('arm64')) ||
      libc.includes('musl');
    const without = installed.filter(([, one]) => !one.integrity && !(one.optional && isElsewhere(one)));
    expect(without).toEqual([]);
  });
});

describe('the image', () => {
  const files = () => {
    const config = ts.getParsedCommandLineOfConfigFile(
      join(root, 'tsconfig.image.json'),
      {},
      {
        ...ts.sys,
        onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
          throw new Error(String(diagnostic.messageText));
        },
      },
    );
    if (!config) throw new Error('tsconfig.image.json cannot be read.');
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const { fileName: name } of ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles) {
        const { resolvedModule } = ts.resolveModuleName(name, file, config.options, ts.sys);
        if (name.startsWith('.')) visit(resolvedModule?.resolvedFileName ?? `${file}: ${name}`);
        else if (!name.startsWith('node:')) packages.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
      }
    };
    config.fileNames.forEach(visit);
    return { sources: [...seen].map((file) => relative(root, file)), packages };
  };

  it('has only code that runs in it, and only packages that this code uses', () => {
    const { sources, packages } = files();
    expect(sources).toEqual(expect.arrayContaining(['api/main.ts', 'worker/main.ts', 'stack/commands/outbox.ts']));
    const starting = /^stack\/(engines\/|start|supervis|bringUp|runStack|receiver|tour|reaper)/;
    expect(sources.filter((file) => starting.test(file))).toEqual([]);
    // Read by path: the one copy of protobufjs that all of Temporal's packages share, and the fonts of posters.
    const byPath = ['protobufjs', '@expo-google-fonts/inter', 'dejavu-fonts-ttf'];
    expect([...packages, ...byPath].sort()).toEqual(Object.keys(manifest.dependencies).sort());
    expect(text('Dockerfile')).toContain('tsc -p tsconfig.image.json');
  });

  it('has a bill of materials with every package that it installs or that the console bundles, and no other, with a licence that permits this use', async () => {
    const printed = execFileSync('npm', ['run', '-s', 'sbom'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const sbom = z
      .object({
        bomFormat: z.literal('CycloneDX'),
        components: z.array(
          z.object({
            name: z.string(),
            version: z.string(),
            hashes: z.array(z.object({ alg: z.string() })).optional(),
            licenses: z.array(licence).default([]),
          }),
        ),
      })
      .parse(JSON.parse(printed));
    const { metafile } = await build({
      entryPoints: ['main.tsx', 'till/main.tsx', 'docs/main.ts'].map((file) => join(root, 'console', file)),
      ...{
        alias: { 'decoder.wasm': 'zxing-wasm/reader/zxing_reader.wasm' },
        loader: { '.wasm': 'file', '.woff2': 'file' },
      },
      ...{ bundle: true, metafile: true, write: false },
      ...{ outdir: '/', format: 'esm', logLevel: 'error' },
    });
    const bundled = new Set(
      Object.keys(metafile.inputs).flatMap(
        (path) => /^(?:.*\/)?(node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
      ),
    );
    const shipped = installed.filter(([path, { dev }]) => !dev || bundled.has(path));
    const wanted = shipped.map(
      ([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`,
    );
    const listed = sbom.components.map(({ name, version }) => `${name}@${version}`);
    expect(listed.length).toBeGreaterThan(100);
    const licences = ({ licenses }: (typeof sbom.components)[number]) =>
      licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '').join(' AND ');
    const ofCompiler = sbom.components.filter(({ name }) => name === '@swc/core').map(licences);
    // The compiler for another processor is not installed here, so the bill has no licence of it.
    const licencesOf = (one: (typeof sbom.components)[number]) =>
      licences(one) || (one.name.startsWith('@swc/core-') ? ofCompiler.join() : '');
    const others = sbom.components.filter((one) => !isPermitted(licencesOf(one)));
    expect(others.map((one) => `${one.name}: ${licencesOf(one)}`).toSorted()).toEqual([
      // A font, of which the licence (Bitstream Vera) permits this use; and MIT, Unlicense and BSD by their files.
      ...['dejavu-fonts-ttf: ', 'png-js: ', 'unionfs: ', 'url-template: '],
    ]);
    expect(wanted.filter((one) => !listed.includes(one))).toEqual([]);
    // Type packages, and dependencies of bundled packages that the bundle does not include.
    const named = new Set([...bundled].flatMap((path) => Object.keys(locked[path]?.dependencies ?? {})));
    const further = listed.filter((one) => !wanted.includes(one)).map((one) => one.replace(/@[^@]*$/, ''));
    expect(further.filter((name) => !named.has(name))).toEqual([]);
    expect(bundled).toContain('node_modules/react-aria-components');
    for (const name of ['tsx', 'mongodb-memory-server-core', 'vitest', '@biomejs/biome'])
      expect(shipped.map(([path]) => path)).not.toContain(`node_modules/${name}`);
    expect(text('Dockerfile')).toMatch(
      /npm run -s sbom > sbom\.cdx\.json[\s\S]*COPY --from=\w+ \/app\/sbom\.cdx\.json/,
    );
  });
});

describe('the check of known vulnerabilities', () => {
  const reported = (vulnerabilities: object) =>
    JSON.stringify({ vulnerabilities, metadata: { dependencies: { prod: 384 } } });
  const one = (severity: string) => ({ koa: { severity, range: '<3.0.1', fixAvailable: true } });

  it('fails from severity high on', () => {
    expect(judge(reported({}))).toMatchObject({ code: 0 });
    expect(judge(reported(one('moderate'))).code).toBe(0);
    expect(judge(reported(one('high')))).toEqual({
      lines: [
        'high: koa <3.0.1, a fix is available',
        '384 packages, 1 with known vulnerabilities, 1 of them high or critical',
      ],
      code: 1,
    });
    expect(judge(reported(one('critical'))).code).toBe(1);
  });

  it.each([
    '',
    'no JSON',
    '{}',
    '{"message":"405 Method Not Allowed - POST https://registry.npmjs.org","method":"POST"}',
  ])('does not pass when its source does not answer: %s', (printed) => {
    expect(judge(printed).code).toBe(couldNotRun);
  });
});
