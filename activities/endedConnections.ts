// The driver (7.8 and 7.9) waits for ever for what it writes in the moment in which the connection's socket is gone and nobody
// has heard of it yet: such a write waits for a `drain` that never comes. A failover, a restart or a balancer that closes
// idle connections would leave requests unanswered and relays standing. In a process that imports this, a command ends
// with its connection, whichever client it is of.
import { createRequire } from 'node:module';
import { MongoNetworkError } from 'mongodb';

interface DriverConnection {
  /** Why it was closed. */
  error: Error | null;
  command(...given: unknown[]): Promise<unknown>;
  once(event: 'close', listener: () => void): void;
  off(event: 'close', listener: () => void): void;
}

// The driver exports the type of it only.
const { Connection }: { Connection: { prototype: DriverConnection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);

const command = Connection.prototype.command;

/** A command fails with what closed its connection, which says whether to try again. */
Connection.prototype.command = function (...given) {
  return new Promise((resolve, reject) => {
    const closed = () => reject(this.error ?? new MongoNetworkError('the connection was closed'));
    this.once('close', closed);
    command
      .apply(this, given)
      .then(resolve, reject)
      .finally(() => this.off('close', closed));
  });
};
