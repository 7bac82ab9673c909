// Before the first workflow starts its namespace knows every search attribute; a start that names an unknown one is
// refused.

import type { Connection } from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { searchAttributeNames } from '../../schemas/searchAttributes.js';
import { until } from '../until.js';

export interface Preparation {
  namespace: string;
  /** The least time that finished workflows must stay; without it the namespace's own is left. */
  retentionSeconds?: number;
  signal: AbortSignal;
}

/** Safe to repeat. */
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
