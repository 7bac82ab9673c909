// The alert rules and the dashboard use only existing metrics: the service's from the registry, those of the Temporal
// SDK and of Node by their known names.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { everyMetric } from '../../../platform/metrics/everyMetric.js';
import { createMetrics, watchProcess } from '../../../platform/metrics/metrics.js';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (path: string) => readFileSync(join(root, 'stack/compose', path), 'utf8');

const { groups } = z
  .strictObject({
    groups: z.array(
      z.strictObject({
        name: z.string(),
        rules: z.array(
          z.strictObject({
            alert: z.string().regex(/^[A-Z]\w+$/),
            expr: z.string(),
            for: z
              .string()
              .regex(/^\d+m$/)
              .optional(),
            labels: z.strictObject({ severity: z.enum(['page', 'warn']) }),
            annotations: z.strictObject({ summary: z.string().endsWith('.'), runbook: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read('alerts.yaml')));
const rules = groups.flatMap((group) => group.rules);

const { panels } = z
  .object({
    panels: z.array(
      z.object({ id: z.int(), title: z.string(), targets: z.array(z.object({ expr: z.string() })).min(1) }),
    ),
  })
  .parse(JSON.parse(read('dashboard.json')));

const node = createMetrics();
watchProcess(node);
// Copied from a worker's own /metrics; the SDK's failure counter appears with the first failure.
const fromTemporal = [
  'temporal_workflow_task_execution_failed_total',
  'temporal_activity_schedule_to_start_latency_seconds_bucket',
  'temporal_worker_task_slots_available',
];
const known = new Set([
  ...fromTemporal,
  ...[...everyMetric(), ...node.registry.getMetricsAsArray()].flatMap(({ name }) => [
    name,
    `${name}_bucket`,
    `${name}_count`,
    `${name}_sum`,
  ]),
]);

const asked = (expr: string): string[] => expr.match(/\b(lps|temporal|nodejs|process)_\w+/g) ?? [];
const balanced = (expr: string): boolean =>
  ['()', '{}', '[]'].every(([open = '', close = '']) => expr.split(open).length === expr.split(close).length);

describe.each([
  ...rules.map(({ alert, expr }) => ({ name: `alert ${alert}`, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: `panel "${title}"`, expr }))),
])('$name', ({ expr }) => {
  it('uses existing metrics, in a complete expression', () => {
    expect(asked(expr).length).toBeGreaterThan(0);
    expect(asked(expr).filter((name) => !known.has(name))).toEqual([]);
    expect(balanced(expr)).toBe(true);
  });
});

it('every metric of the service is on the dashboard or in an alert', () => {
  const used = new Set([...rules, ...panels.flatMap(({ targets }) => targets)].flatMap(({ expr }) => asked(expr)));
  const own = everyMetric().map(({ name }) => name);
  expect(own.filter((name) => ![...used].some((one) => one.startsWith(name)))).toEqual([]);
});

it('no metric has a label for a merchant, a member or an address', () => {
  const labels = everyMetric().flatMap((metric) => metric.labels);
  expect(labels).toContain('outcome');
  expect(labels).not.toEqual(expect.arrayContaining([expect.stringMatching(/merchant|member|url|host|email|id$/i)]));
});

it('every alert links to a section that exists', () => {
  for (const { annotations } of rules) {
    const [path = '', anchor] = annotations.runbook.split('#');
    const page = readFileSync(join(root, path), 'utf8');
    const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replace(/\s+/g, '-'),
    );
    if (anchor !== undefined) expect(anchors).toContain(anchor);
  }
});
