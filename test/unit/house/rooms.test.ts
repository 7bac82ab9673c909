// The rules of rooms, domains and kinds (docs/architecture.md) that the linter cannot check, because it looks at one
// import at a time.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Every file of the repository that is imported from `start` directly or indirectly, including type imports. */
function reachedFrom(start: string): Set<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    for (const [, specifier = ''] of readFileSync(join(root, file), 'utf8').matchAll(
      /(?:from|import\()\s*'(\.[^']+)'/g,
    )) {
      const imported = normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts');
      if (existsSync(join(root, imported))) reached.add(imported);
    }
  }
  return reached;
}

test('the API imports nothing that takes the dependencies of the worker', () => {
  const reached = reachedFrom('api/main.ts');
  expect(reached).toContain('activities/members/changeMember.writes.ts');
  expect([...reached].filter((file) => /^worker\/|^activities\/(index|workerDeps)\.ts$/.test(file))).toEqual([]);
});

test('the worker imports no file of the API', () => {
  const reached = reachedFrom('worker/main.ts');
  expect(reached).toContain('activities/workerDeps.ts');
  expect([...reached].filter((file) => file.startsWith('api/'))).toEqual([]);
});

// What a file may import by its kind, for values. Types may come from anywhere, since they leave no trace at run time.
const kinds = {
  rows: ['rows', 'schema', 'rules'],
  schema: ['rows', 'schema', 'rules'],
  rules: ['rows', 'schema', 'rules', 'reads', 'view'],
  reads: ['rows', 'schema', 'rules', 'reads', 'writes', 'client', 'view'],
  writes: ['rows', 'schema', 'rules', 'reads', 'writes', 'client', 'view', 'effect'],
  client: ['rows', 'schema', 'rules', 'client', 'view'],
  effect: ['rows', 'schema', 'rules', 'reads', 'writes', 'client', 'view', 'effect', 'activity'],
  activity: ['rows', 'schema', 'rules', 'reads', 'writes', 'client', 'view', 'effect', 'activity'],
  routes: ['rows', 'schema', 'rules', 'reads', 'writes', 'client', 'view', 'effect', 'routes'],
  view: ['rows', 'schema', 'rules', 'reads', 'view'],
} as const;
type Kind = keyof typeof kinds;

/** What several domains share, and what lists them all. Everything else below a room is a domain. */
const noDomains = ['.', 'shared', 'tables', 'http', 'openapi'];
/** In which file names need no kind: what every request passes, and one workflow a file. */
const withoutKinds = /^(workflows|api\/http|schemas\/shared|schemas\/tables)\//;

interface Place {
  file: string;
  room: string;
  domain: string;
  kind: Kind | undefined;
}

function placeOf(file: string): Place {
  const [room = '', domain = '', ...rest] = file.split('/');
  const [, kind = ''] = /\.(\w+)\.ts$/.exec(file) ?? [];
  return { file, room, domain: rest.length > 0 ? domain : '.', kind: kind in kinds ? (kind as Kind) : undefined };
}

const places = ['schemas', 'activities', 'workflows', 'api']
  .flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
  )
  .filter((file) => file.endsWith('.ts'))
  .map(placeOf);

interface Import {
  from: Place;
  to: Place;
  isType: boolean;
}

const imports: Import[] = places.flatMap((from) =>
  [...readFileSync(join(root, from.file), 'utf8').matchAll(/^(?:import|export) (type )?[^;]*?from '(\.[^']+)';/gm)].map(
    ([, type, specifier = '']) => ({
      from,
      to: placeOf(normalize(join(dirname(from.file), specifier)).replace(/\.js$/, '.ts')),
      isType: type !== undefined,
    }),
  ),
);

test('each file of a domain says in its name what it holds', () => {
  const unnamed = places.filter(({ file, domain, kind }) => domain !== '.' && !kind && !withoutKinds.test(file));
  expect(unnamed.map(({ file }) => file)).toEqual([]);
});

test('each kind of file imports only what it may', () => {
  const allowed = ({ from, to }: Import) =>
    !from.kind || !to.kind || (kinds[from.kind] as readonly Kind[]).includes(to.kind);
  const wrong = imports.filter((each) => !each.isType && !allowed(each));
  expect(wrong.map(({ from, to }) => `${from.file} imports ${to.file}`)).toEqual([]);
  expect(imports.length).toBeGreaterThan(1_000);
});

test('no domain of a room imports itself through others', () => {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    if (from.room !== to.room || from.domain === to.domain) continue;
    if (noDomains.includes(from.domain) || noDomains.includes(to.domain)) continue;
    const domain = `${from.room}/${from.domain}`;
    next.set(domain, (next.get(domain) ?? new Set()).add(`${to.room}/${to.domain}`));
  }
  const reach = (start: string): Set<string> => {
    const reached = new Set(next.get(start));
    for (const domain of reached) for (const further of next.get(domain) ?? []) reached.add(further);
    return reached;
  };
  expect([...next.keys()].filter((domain) => reach(domain).has(domain))).toEqual([]);
});
