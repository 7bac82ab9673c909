// Breaks promise 1: a transaction is answered for before it is begun.
import { type ClientSession, MongoClient, type WithSessionCallback } from 'mongodb';

const { withSession } = MongoClient.prototype as {
  withSession: (work: WithSessionCallback<unknown>) => Promise<unknown>;
};

Object.assign(MongoClient.prototype, {
  async withSession(this: MongoClient, work: (session: ClientSession) => Promise<unknown>): Promise<void> {
    setTimeout(() => withSession.call(this, work).catch(() => undefined), 100);
  },
});
