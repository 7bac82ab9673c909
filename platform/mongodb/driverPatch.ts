// Patches four behaviours of the MongoDB driver (7.8 and 7.9). First, a command that is written while its socket closes
// waits forever for a `drain` event. Second, a statement that exceeded `socketTimeoutMS` is sent a second time, so that
// a caller waits twice as long for a collection that hangs. Third, a query continues at the server after its client has
// stopped waiting. Fourth, a process that is busy for longer than `connectTimeoutMS` does not see that its connection
// is open, and reports a timeout. In a process that imports this file, a command fails when its connection closes, a
// statement that timed out is not sent again, the queries of a client with a short `socketTimeoutMS` end at the server
// as well, and a connection that failed in a busy moment is opened again. All of this holds for every client of the
// process.
import { createRequire } from 'node:module';
import { MongoNetworkError, MongoNetworkTimeoutError, MongoOperationTimeoutError } from 'mongodb';

interface DriverConnection {
  /** Why the connection was closed. */
  error: Error | null;
  socketTimeoutMS: number;
  command(namespace: unknown, command: object, ...given: unknown[]): Promise<unknown>;
  once(event: 'close', listener: () => void): void;
  off(event: 'close', listener: () => void): void;
}

type Connect = (options: { connectTimeoutMS: number }) => Promise<unknown>;

// The driver exports only the types of these.
const require = createRequire(import.meta.url);
const { Connection }: { Connection: { prototype: DriverConnection } } = require('mongodb/lib/cmap/connection.js');
const connections: { connect: Connect } = require('mongodb/lib/cmap/connect.js');

const { command: send } = Connection.prototype;

/** A heartbeat keeps its own error, by which the driver detects that a server is unavailable. */
const isHeartbeat = (command: object): boolean => 'hello' in command || 'ismaster' in command;

const queries = new Set(['find', 'aggregate', 'count', 'distinct']);
/** Clients with a longer timeout read long lists in parts, and the server would add up the time of all parts. */
const shortMs = 3_000;
/** The server's answer arrives before the client stops waiting. */
const marginMs = 200;

/** The command with a time limit at the server (`maxTimeMS`), if it is a query of a client with a short timeout. */
function limited(command: { maxTimeMS?: number }, socketTimeoutMS: number): object {
  const isShort = socketTimeoutMS > marginMs && socketTimeoutMS <= shortMs;
  if (!isShort || !queries.has(Object.keys(command)[0] ?? '')) return command;
  return { ...command, maxTimeMS: command.maxTimeMS ?? socketTimeoutMS - marginMs };
}

/** A command fails with the error that closed its connection; the driver decides from that error whether to retry. */
Connection.prototype.command = function (namespace, command, ...given) {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      const gaveUp = error instanceof MongoNetworkTimeoutError && !isHeartbeat(command);
      reject(gaveUp ? new MongoOperationTimeoutError(error.message, { cause: error }) : error);
    };
    const closed = () => fail(this.error ?? new MongoNetworkError('the connection was closed'));
    this.once('close', closed);
    send
      .call(this, namespace, limited(command, this.socketTimeoutMS), ...given)
      .then(resolve, fail)
      .finally(() => this.off('close', closed));
  });
};

const { connect } = connections;

connections.connect = async function again(options): Promise<unknown> {
  const { connectTimeoutMS } = options;
  let halfwayAt = Number.POSITIVE_INFINITY;
  const halfway = setTimeout(() => {
    halfwayAt = performance.now();
  }, connectTimeoutMS / 2);
  try {
    return await connect(options);
  } catch (error) {
    // Half of the time was over as late as all of it: in between the process was busy and could not see an answer.
    const wasBusy = performance.now() - halfwayAt < connectTimeoutMS / 4;
    if (error instanceof MongoNetworkTimeoutError && wasBusy) return again(options);
    throw error;
  } finally {
    clearTimeout(halfway);
  }
};
