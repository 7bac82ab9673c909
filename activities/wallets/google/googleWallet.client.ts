// Google's side of the passes: one class for each program, one object for each member. Each request waits for the
// request pacer and has its own timeout. Errors are GoogleWalletError, whose `kind` says whether to try again.
import { randomUUID } from 'node:crypto';
import { walletobjects, type walletobjects_v1 } from '@googleapis/walletobjects';
import type { Logger } from 'pino';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import {
  clearedObject,
  type GooglePassView,
  loyaltyClassOf,
  loyaltyObjectOf,
  loyaltyObjectPatchOf,
} from '../../../schemas/wallets/google/pass.view.js';
import { createGoogleAuth, dropAccessToken } from './accessToken.client.js';
import type { RealGoogleCredentials } from './credentials.rules.js';
import type {
  BatchOutcome,
  GoogleMessage,
  GoogleObject,
  GoogleWalletApi,
  PatchOutcome,
} from './googleWallet.schema.js';
import { GoogleWalletError, toGoogleWalletError } from './googleWalletError.rules.js';
import { type BatchAnswer, type BatchPart, decodeBatch, encodeBatch, errorOfPart } from './multipartBatch.rules.js';
import type { RequestPacer } from './requestPacer.client.js';
import { createSaveUrl } from './saveUrl.rules.js';

export interface GoogleWalletApiOptions {
  credentials: RealGoogleCredentials;
  pacer: RequestPacer;
  log: Pick<Logger, 'info' | 'warn'>;
  /**
   * The timeout of one request. Google advises the default, 10 s (docs/protocols/google-wallet.md#5-errors-and-limits).
   */
  timeoutMs?: number;
  /** Sites that may show Google's own save button. */
  origins?: string[];
}

/** Objects in one batch request: few enough that Google answers well within the timeout. */
const batchSize = 50;
const maxMessages = 10;
const pageSize = 200;

export function createGoogleWalletApi(options: GoogleWalletApiOptions): GoogleWalletApi {
  const { credentials, pacer, log, timeoutMs = 10_000, origins = [] } = options;
  const { issuerId, origin } = credentials;
  const auth = createGoogleAuth(credentials, timeoutMs);
  // The library must not retry: the caller decides on retries, and hidden ones would exceed the rate of the pacer.
  const api = walletobjects({ version: 'v1', auth, rootUrl: `${origin}/`, retry: false, timeout: timeoutMs });

  async function call<T>(send: () => Promise<{ data: T }>): Promise<T> {
    await pacer.take();
    let token: string | null | undefined;
    try {
      token = (await auth.getAccessToken()).token;
      return (await send()).data;
    } catch (thrown) {
      const error = toGoogleWalletError(thrown);
      if (error.status !== 401) throw error;
    }
    if (auth.credentials.access_token === token) dropAccessToken(auth);
    await pacer.take();
    try {
      return (await send()).data;
    } catch (thrown) {
      throw toGoogleWalletError(thrown);
    }
  }

  async function getObject(objectId: string): Promise<GoogleObject | null> {
    const data = await unless(
      'not_found',
      call(() => api.loyaltyobject.get({ resourceId: objectId })),
    );
    return data === null ? null : readObject(data);
  }

  function patch(
    resourceId: string,
    requestBody: Record<string, unknown>,
  ): Promise<walletobjects_v1.Schema$LoyaltyObject> {
    return call(() => api.loyaltyobject.patch({ resourceId, requestBody }));
  }

  async function sendMessage(resourceId: string, message: GoogleMessage, messageType: MessageType): Promise<void> {
    const send = () =>
      call(() => api.loyaltyobject.addmessage({ resourceId, requestBody: { message: { ...message, messageType } } }));
    if ((await unless('invalid', send())) !== null) return;
    await makeRoomForMessage(resourceId);
    await send();
  }

  /**
   * An object holds ten messages. Keeps the newest nine and marks them as silent, so that writing them again notifies
   * no customer.
   */
  async function makeRoomForMessage(objectId: string): Promise<void> {
    const messages = (await getObject(objectId))?.messages ?? [];
    if (messages.length < maxMessages) return;
    const kept = messages.slice(1 - maxMessages).map((message) => ({ ...message, messageType: 'TEXT' }));
    await patch(objectId, { messages: kept });
  }

  async function sendBatch(parts: BatchPart[]): Promise<(BatchAnswer | GoogleWalletError)[]> {
    const boundary = `batch_${randomUUID()}`;
    const answers = await answersOfBatch(boundary, encodeBatch(boundary, parts), parts.length);
    return parts.map((_, index) => {
      const answer = answers[index] ?? toGoogleWalletError(undefined);
      return errorOfPart(answer) ?? answer;
    });
  }

  const insertPart = (view: GooglePassView): BatchPart => ({
    method: 'POST',
    path: '/walletobjects/v1/loyaltyObject',
    body: loyaltyObjectOf(issuerId, view),
  });

  function insertOutcome({ memberId }: GooglePassView, answer: BatchAnswer | GoogleWalletError): BatchOutcome {
    const named = { memberId, objectId: makeGoogleObjectId(issuerId, memberId) };
    if (!(answer instanceof GoogleWalletError)) return { ...named, outcome: 'inserted' };
    return answer.status === 409 ? { ...named, outcome: 'existed' } : { ...named, outcome: 'failed', error: answer };
  }

  const patchPart = (view: GooglePassView): BatchPart => ({
    method: 'PATCH',
    path: `/walletobjects/v1/loyaltyObject/${encodeURIComponent(makeGoogleObjectId(issuerId, view.memberId))}`,
    body: loyaltyObjectPatchOf(view),
  });

  function patchOutcome({ memberId }: GooglePassView, answer: BatchAnswer | GoogleWalletError): PatchOutcome {
    // Without a body, Google's answer does not say whether a customer has the object, and the patch is sent again.
    if (answer instanceof GoogleWalletError || typeof answer.body !== 'object' || answer.body === null)
      return { memberId, outcome: 'failed', error: toGoogleWalletError(answer) };
    return { memberId, outcome: 'patched', hasUsers: readObject(answer.body).hasUsers };
  }

  /** Sends one batch after the other. */
  async function inBatches<T>(
    views: GooglePassView[],
    part: (view: GooglePassView) => BatchPart,
    outcome: (view: GooglePassView, answer: BatchAnswer | GoogleWalletError) => T,
  ): Promise<T[]> {
    const outcomes: T[] = [];
    for (let from = 0; from < views.length; from += batchSize) {
      const some = views.slice(from, from + batchSize);
      const answers = await sendBatch(some.map(part));
      outcomes.push(...some.map((view, index) => outcome(view, answers[index] ?? toGoogleWalletError(undefined))));
    }
    return outcomes;
  }

  async function answersOfBatch(
    boundary: string,
    body: string,
    count: number,
  ): Promise<(BatchAnswer | GoogleWalletError)[]> {
    try {
      const contentType = `multipart/mixed; boundary=${boundary}`;
      const headers = { 'content-type': contentType };
      const request = { url: `${origin}/batch`, method: 'POST', headers, data: body, responseType: 'text' } as const;
      const answer = await call(async () => {
        const response = await auth.request<string>({ ...request, retry: false, timeout: timeoutMs });
        return { data: { text: response.data, type: response.headers.get('content-type') ?? '' } };
      });
      return decodeBatch(answer.type, answer.text, count);
    } catch (thrown) {
      return Array.from({ length: count }, () => toGoogleWalletError(thrown));
    }
  }

  return {
    getObject,
    saveUrl: createSaveUrl(credentials, origins),

    async upsertClass(program) {
      const wanted = loyaltyClassOf(issuerId, program);
      const resourceId = wanted.id;
      const present = await unless(
        'not_found',
        call(() => api.loyaltyclass.get({ resourceId })),
      );
      if (present === null && (await inserted(call(() => api.loyaltyclass.insert({ requestBody: wanted }))))) {
        return { classId: resourceId, outcome: 'inserted' };
      }
      const { reviewStatus: _, ...given } = wanted;
      const design = { ...noModules, ...given };
      if (present !== null && holds(present, design)) return { classId: resourceId, outcome: 'unchanged' };
      await call(() => api.loyaltyclass.patch({ resourceId, requestBody: { ...noModules, ...wanted } }));
      return { classId: resourceId, outcome: 'updated' };
    },

    async insertObject(view) {
      const requestBody = loyaltyObjectOf(issuerId, view);
      const isNew = await inserted(call(() => api.loyaltyobject.insert({ requestBody })));
      return { objectId: requestBody.id, outcome: isNew ? 'inserted' : 'existed' };
    },

    async clearObject(memberId) {
      await patch(makeGoogleObjectId(issuerId, memberId), clearedObject);
    },

    async patchObject(view, { notify }) {
      const objectId = makeGoogleObjectId(issuerId, view.memberId);
      const change = loyaltyObjectPatchOf(view);
      if (notify) {
        const data = await unless('quota', patch(objectId, { ...change, notifyPreference: 'NOTIFY_ON_UPDATE' }));
        if (data !== null) return { ...readObject(data), notified: true };
        log.info({ objectId }, 'google.patch.silent');
      }
      return { ...readObject(await patch(objectId, change)), notified: false };
    },

    async addMessage(objectId, message) {
      try {
        await sendMessage(objectId, message, 'TEXT_AND_NOTIFY');
        return { outcome: 'notified' };
      } catch (error) {
        if (!(error instanceof GoogleWalletError) || error.kind !== 'quota') throw error;
      }
      log.info({ objectId }, 'google.message.silent');
      await sendMessage(objectId, message, 'TEXT');
      return { outcome: 'silent' };
    },

    async listObjects(classId, page) {
      const params = { classId, maxResults: pageSize, ...(page !== undefined && { token: page }) };
      const data = await unless(
        'not_found',
        call(() => api.loyaltyobject.list(params)),
      );
      const next = data?.pagination?.nextPageToken;
      return { objects: (data?.resources ?? []).map(readObject), ...(next && { next }) };
    },

    batchInsert: (views) => inBatches(views, insertPart, insertOutcome),
    batchPatch: (views) => inBatches(views, patchPart, patchOutcome),
  };
}

type MessageType = 'TEXT' | 'TEXT_AND_NOTIFY';

/** Returns null when the request failed with an error of this kind. Other errors are thrown. */
async function unless<T>(kind: GoogleWalletError['kind'], answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof GoogleWalletError && error.kind === kind) return null;
    throw error;
  }
}

/** Returns false when the class or object existed already (409 AlreadyExistsException). */
async function inserted(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (error instanceof GoogleWalletError && error.status === 409) return false;
    throw error;
  }
}

function readObject(data: walletobjects_v1.Schema$LoyaltyObject): GoogleObject {
  const balance = data.loyaltyPoints?.balance;
  return {
    objectId: data.id ?? '',
    classId: data.classId ?? '',
    state: (data.state ?? '').toUpperCase(),
    hasUsers: data.hasUsers === true,
    balance: String(balance?.string ?? balance?.int ?? balance?.double ?? ''),
    messages: (data.messages ?? []).map(({ id, header, body }) => ({
      id: id ?? '',
      header: header ?? '',
      body: body ?? '',
    })),
  };
}

/** A PATCH merges, so what a program no longer has is sent as null. */
const noModules: Record<string, null> = { linksModuleData: null, merchantLocations: null };

/**
 * Whether `present` contains all fields of `wanted`, and lists of the same length. Google adds fields of its own to
 * stored classes.
 */
function holds(present: unknown, wanted: unknown): boolean {
  if (wanted === null) return present === undefined || present === null;
  if (Array.isArray(wanted) && (!Array.isArray(present) || present.length !== wanted.length)) return false;
  if (typeof wanted !== 'object') return present === wanted;
  if (typeof present !== 'object' || present === null) return false;
  const fields = new Map<string, unknown>(Object.entries(present));
  return Object.entries(wanted).every(([key, value]) => holds(fields.get(key), value));
}
