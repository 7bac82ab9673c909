// Creates the namespace when it is missing, and registers the search attributes in it. The server refuses to start a
// workflow that sets an unknown search attribute.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import { encodeSearchAttributeIndexedValueType } from '@temporalio/common/lib/search-attributes.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { searchAttributeNames } from '../../schemas/shared/searchAttributes.js';

export interface Preparation {
  namespace: string;
  /** The minimum retention of finished workflows, in seconds; without it the namespace's retention is not changed. */
  retentionSeconds?: number;
  /** Whether to create a missing namespace. Without it, one that is missing is an error. */
  create?: boolean;
  signal: AbortSignal;
}

const newRetentionSeconds = 7 * 24 * 3_600;
/** Codes of gRPC. */
const notFound = 5;
const alreadyExists = 6;
const pauseMs = 50;

/** Idempotent. Throws when `signal` is aborted before the namespace is ready. */
export async function prepareNamespace(connection: Connection, preparation: Preparation): Promise<void> {
  const { namespace, retentionSeconds, create = false, signal } = preparation;
  if (create) await createWhenMissing(connection, namespace);
  if (retentionSeconds !== undefined && (await retentionOf(connection, namespace)) < retentionSeconds) {
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(retentionSeconds * 1_000) },
    });
  }
  // A new namespace takes some time to be known to all nodes, so the calls are repeated.
  for (;;) {
    signal.throwIfAborted();
    try {
      await addMissingAttributes(connection, namespace);
      if ((await missingAttributes(connection, namespace)).length === 0) return;
    } catch (error) {
      if (!create || !isNotFound(error)) throw error;
    }
    await sleep(pauseMs);
  }
}

const isNotFound = (error: unknown): boolean => isGrpcServiceError(error) && error.code === notFound;

async function createWhenMissing(connection: Connection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await connection.workflowService
      .registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs(newRetentionSeconds * 1_000) })
      .catch((failure: unknown) => {
        if (!isGrpcServiceError(failure) || failure.code !== alreadyExists) throw failure;
      });
  }
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
