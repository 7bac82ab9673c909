// Breaks guarantee 1 of docs/architecture.md: a change is acknowledged before its transaction is committed.
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientSession } from 'mongodb';

type Ends = (this: ClientSession) => Promise<void>;
const { commitTransaction, endSession } = ClientSession.prototype as { commitTransaction: Ends; endSession: Ends };
const committing = new WeakMap<ClientSession, Promise<void>>();

Object.assign(ClientSession.prototype, {
  async commitTransaction(this: ClientSession): Promise<void> {
    committing.set(
      this,
      sleep(300)
        .then(() => commitTransaction.call(this))
        .catch(() => undefined),
    );
  },
  async endSession(this: ClientSession): Promise<void> {
    const committed = committing.get(this);
    if (!committed) return endSession.call(this);
    void committed.then(() => endSession.call(this));
  },
});
