// Counts the answers for each operation in schemathesis' report.
import { z } from 'zod';

export interface Counts {
  /** For example `GET /merchants/me/members/{id}`. */
  operation: string;
  /** The number of answers by status. */
  statuses: Map<number, number>;
}

const line = z.object({
  ScenarioFinished: z
    .object({
      recorder: z.object({
        cases: z.record(z.string(), z.object({ value: z.object({ method: z.string(), path: z.string() }) })).optional(),
        interactions: z
          .record(z.string(), z.object({ response: z.object({ status_code: z.int() }).nullish() }))
          .optional(),
      }),
    })
    .optional(),
});

/** `ndjson` is the report. The result includes operations that were never called. */
export function countsOf(ndjson: string, operations: readonly string[]): Counts[] {
  const counts = new Map(operations.map((operation) => [operation, new Map<number, number>()]));
  for (const text of ndjson.split('\n').filter(Boolean)) {
    const { cases = {}, interactions = {} } = line.parse(JSON.parse(text)).ScenarioFinished?.recorder ?? {};
    for (const [id, { response }] of Object.entries(interactions)) {
      const { method, path } = cases[id]?.value ?? { method: '', path: '' };
      const statuses = counts.get(`${method} ${path}`);
      if (statuses && response) statuses.set(response.status_code, (statuses.get(response.status_code) ?? 0) + 1);
    }
  }
  return [...counts].map(([operation, statuses]) => ({ operation, statuses }));
}
