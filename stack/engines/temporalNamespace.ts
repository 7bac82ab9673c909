// Registers the search attributes in the namespace. The server refuses to start a workflow that sets an unknown search
// attribute.
import type { Connection } from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { searchAttributeNames } from '../../schemas/searchAttributes.js';
import { until } from '../until.js';

export interface Preparation {
  namespace: string;
  /** The minimum retention of finished workflows, in seconds; without it the namespace's retention is not changed. */
  retentionSeconds?: number;
  signal: AbortSignal;
}

/** Can be repeated safely. */
export async function prepareNamespace(connection: Connection, preparation: Preparation): Promise<void> {
  const { namespace, retentionSeconds, signal } = preparation;
  if (retentionSeconds !== undefined && (await retentionOf(connection, namespace)) < retentionSeconds) {
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(retentionSeconds * 1_000) },
    });
  }
  await addMissingAttributes(connection, namespace);
  await until(async () => (await missingAttributes(connection, namespace)).length === 0, 50, signal);
}

export async function retentionOf(connection: Connection, namespace: string): Promise<number> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
}

async function missingAttributes(connection: Connection, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  return searchAttributeNames.filter((name) => customAttributes[name] === undefined);
}

async function addMissingAttributes(connection: Connection, namespace: string): Promise<void> {
  const missing = await missingAttributes(connection, namespace);
  if (missing.length === 0) return;
  const keyword = encodeSearchAttributeIndexedValueType('KEYWORD');
  if (keyword === undefined) throw new Error('The SDK no longer knows the search attribute type KEYWORD.');
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])),
  });
}
