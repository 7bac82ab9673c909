// What each engine has: the side that changes members, and the worker that delivers, each in its own process.
import { randomUUID } from 'node:crypto';
import type { StoredEvent } from './delivery.js';

/** Where an engine finds what it needs; the argument of its processes. */
export interface Place {
  /** The engine, and the name of its database. */
  name: string;
  /** Of the receiver. */
  url: string;
  /** Of the store. */
  address: string;
  /** Of the administration of the store, where this is another one. */
  admin?: string;
  mongodbUri: string;
  mongodbDatabase: string;
  /** An envelope of the service. */
  envelope: string;
}

export interface Caller {
  /** Changes the member, stores the event and hands over its delivery, all of it durably. */
  change: (memberId: string) => Promise<unknown>;
  /** The number of logged attempts. */
  logged: () => Promise<number>;
}

export interface Engine {
  /** Makes the store and its members. */
  startCaller: (place: Place) => Promise<Caller>;
  /** Starts after the caller. Absent when the caller does the whole effect. */
  startWorker?: (place: Place) => Promise<void>;
}

export const memberIds: readonly string[] = Array.from({ length: 2_000 }, (_, index) => `member-${index}`);

export interface Balance {
  points: number;
  version: number;
}

type MakeEvent = (memberId: string, after: Balance, eventId?: string, time?: string) => StoredEvent;

/** Makes events with the size and the fields of the service's own. */
export function eventMaker({ envelope }: Pick<Place, 'envelope'>): MakeEvent {
  const sample = JSON.parse(envelope);
  return function event(memberId, { points, version }, eventId = randomUUID(), time = new Date().toISOString()) {
    const data = { ...sample.data, memberId, previous: points - 1, current: points, memberVersion: version };
    return { eventId, body: JSON.stringify({ ...sample, id: eventId, eventId, time, occurredAt: time, data }) };
  };
}
