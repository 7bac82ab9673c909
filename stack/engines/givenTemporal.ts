// Prepares a Temporal server whose address the user gave: adds the missing search attributes and changes nothing else
// on that server.
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { prepareNamespace, retentionOf } from '../../platform/temporal/prepareNamespace.js';
import { toError } from '../../platform/toError.js';
import { ExpectedFailure } from '../expectedFailure.js';

const leastRetentionSeconds = 72 * 3_600;

/** Throws ExpectedFailure when the server does not answer. Returns remarks for the user. */
export async function prepareGivenTemporal(address: string, namespace: string): Promise<string[]> {
  const connection = await connectTo(address);
  try {
    await prepareNamespace(connection, { namespace, signal: AbortSignal.timeout(10_000) });
    const seconds = await retentionOf(connection, namespace);
    if (seconds >= leastRetentionSeconds) return [];
    const hours = Math.floor(seconds / 3_600);
    return [
      `Namespace ${namespace} forgets finished workflows after ${hours} h; 72 h or more lets operators look back.`,
    ];
  } catch (error) {
    throw new ExpectedFailure(
      `Namespace ${namespace} of TEMPORAL_ADDRESS could not be prepared (does it exist, and may this client add search ` +
        `attributes?): ${toError(error).message}`,
    );
  } finally {
    await connection.close();
  }
}

async function connectTo(address: string): Promise<Connection> {
  try {
    const { connectionOptions } = loadClientConnectConfig();
    return await Connection.connect({ ...connectionOptions, address, connectTimeout: '5s' });
  } catch (error) {
    throw new ExpectedFailure(`TEMPORAL_ADDRESS does not answer: ${toError(error).message}`);
  }
}
