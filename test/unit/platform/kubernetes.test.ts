// The Kubernetes example (stack/kubernetes/service.yaml) runs what the compose file runs, with the same settings, files
// and rights. test/long/kubernetes.test.ts holds it against the schemas of Kubernetes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { configNames } from '../../../schemas/shared/config.schema.js';

const root = join(import.meta.dirname, '..', '..', '..');
const text = (path: string) => readFileSync(join(root, path), 'utf8');

const compose = z
  .object({
    services: z.record(
      z.string(),
      z.object({
        image: z.string(),
        command: z.array(z.string()).optional(),
        environment: z.record(z.string(), z.string()).default({}),
        secrets: z.array(z.string()).default([]),
        stop_grace_period: z.string().optional(),
        healthcheck: z.object({ test: z.array(z.string()) }).optional(),
        mem_limit: z.string(),
      }),
    ),
  })
  .parse(parse(text('docker-compose.yml'), { merge: true })).services;

const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const container = z.object({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  resources: z.object({ limits: z.object({ memory: z.string() }) }),
  securityContext: z.object({}).loose(),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) }).optional(),
});
const object = z
  .object({ kind: z.string(), metadata: z.object({ name: z.string() }), data: z.record(z.string(), z.string()) })
  .partial({ data: true })
  .loose();
const objects = parseAllDocuments(text('stack/kubernetes/service.yaml')).map((each) => object.parse(each.toJS()));
const named = (kind: string, name: string) => {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`There is no ${kind} ${name}.`);
  return found;
};
const deployment = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.object({}).loose(),
        initContainers: z.array(container),
        containers: z.array(container),
        volumes: z.array(
          z.object({
            secret: z.object({ items: z.array(z.object({ key: z.string(), path: z.string() })) }).optional(),
          }),
        ),
      }),
    }),
  }),
});

const settings = named('ConfigMap', 'loyalty-pass').data ?? {};

it('has the settings of the compose file, all of which the configuration knows', () => {
  const { NODE_OPTIONS, ...given } = compose.api?.environment ?? {};
  expect(Object.keys(settings).toSorted()).toEqual(Object.keys(given).toSorted());
  const known = [...configNames, ...configNames.map((name) => `${name}_FILE`)];
  expect(Object.keys(settings).filter((name) => !known.includes(name))).toEqual([]);
  for (const [name, value] of Object.entries(settings))
    if (name.endsWith('_FILE')) expect([name, value]).toEqual([name, given[name]]);
});

describe.each(['api', 'worker'])('the pods of the %s', (process) => {
  const pod = deployment.parse(named('Deployment', `loyalty-pass-${process}`)).spec.template.spec;
  const ours = [...pod.initContainers, ...pod.containers];

  it('run the image, commands and limits of the compose file, the migration first', () => {
    expect(ours.map(({ name }) => name)).toEqual(['migrate', process]);
    for (const { name, image, command, env, resources } of ours) {
      const same = compose[name];
      expect([image, command]).toEqual([same?.image, same?.command]);
      expect(resources.limits.memory.replace(/i$/, '').toLowerCase()).toBe(same?.mem_limit);
      for (const { name: variable, value } of env) expect(value).toBe(same?.environment[variable]);
    }
  });

  it('can write nothing, have no rights, and get only the files that the settings name', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const { securityContext } of ours)
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    const files = pod.volumes.flatMap(({ secret }) => secret?.items ?? []);
    for (const { key, path } of files) expect(path).toBe(key);
    expect(files.map(({ key }) => key).toSorted()).toEqual(compose[process]?.secrets.toSorted());
  });

  it('are asked at a port of theirs whether they are alive and ready, the port that the compose file asks', () => {
    const [main] = pod.containers;
    const own = process === 'api' ? settings.PORT : settings.WORKER_METRICS_PORT;
    for (const [name, path] of [
      ['startupProbe', '/healthz'],
      ['livenessProbe', '/healthz'],
      ['readinessProbe', '/readyz'],
    ] as const) {
      const asked = main?.[name]?.httpGet;
      const number = main?.ports.find((one) => one.name === asked?.port)?.containerPort;
      expect([name, asked?.path, String(number)]).toEqual([name, path, own]);
    }
    expect(compose[process]?.healthcheck?.test.join()).toContain(`127.0.0.1:${own}/`);
  });

  it('have, once requests are sent elsewhere, the time to end that the compose file gives', () => {
    const waits = pod.containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0;
    const grace = Number.parseInt(compose[process]?.stop_grace_period ?? '', 10);
    expect(pod.terminationGracePeriodSeconds - waits).toBeGreaterThanOrEqual(grace);
    if (process === 'api') expect(waits).toBeGreaterThan(0);
  });

  it('may not all be taken away at a time, and grow by a measure that there is', () => {
    expect(named('PodDisruptionBudget', `loyalty-pass-${process}`)).toMatchObject({ spec: { minAvailable: 1 } });
    const grown = named('HorizontalPodAutoscaler', `loyalty-pass-${process}`);
    expect(grown).toMatchObject({ spec: { minReplicas: 2, scaleTargetRef: { name: `loyalty-pass-${process}` } } });
    const [, metric] = /"metric":\{"name":"(\w+)"\}/.exec(JSON.stringify(grown)) ?? [];
    if (metric !== undefined) expect(text('stack/compose/alerts.yaml')).toContain(metric);
    expect(metric).toBe(process === 'worker' ? 'lps_outbox_age_seconds' : undefined);
  });
});
