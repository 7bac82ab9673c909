// A customer's Google Wallet: saves a pass from its save link as Google does, deletes it, and makes Google post the
// signed callback to the address in the pass's class. `card` returns what the phone shows.
import { jwtVerify } from 'jose';
import { z } from 'zod';
import type { GoogleNotice } from './googleRules.js';
import type { GoogleServer } from './googleServer.js';
import type { SignedCallback } from './googleSigner.js';

/** Kinds of forged callbacks. The service must refuse each one and change nothing. */
export const forgeries = [
  'signature',
  'message',
  'intermediate',
  'recipient',
  'sender',
  'protocol',
  'expiredKey',
  'expiredMessage',
  'otherIssuer',
] as const;
export type Forgery = (typeof forgeries)[number];

export interface VirtualCard {
  label: string;
  balance: string;
  secondary: string | null;
  state: string;
  accountName: string | null;
  barcode: string;
  background: string | null;
  messages: { header: string; body: string; messageType: string }[];
  /** The notices on the lock screen, oldest first. */
  notices: GoogleNotice[];
  /** The program's class and the member's object, as Google has them. */
  pass: { class: Record<string, unknown>; object: Record<string, unknown> };
}

export interface CallbackOptions {
  /** How often the same event is sent (default 1), because Google may repeat callbacks. */
  times?: number;
  forge?: Forgery;
  nonce?: string;
}

export interface VirtualGoogleWallet {
  /** Throws where Google would show an error page: when the signature is wrong or the object was never inserted. */
  save: (saveUrl: string, options?: CallbackOptions) => Promise<{ objectId: string; statuses: number[] }>;
  remove: (objectId: string, options?: CallbackOptions) => Promise<{ statuses: number[] }>;
  /** Sends only the callback, without a save or a deletion. Returns the status of each request; 0 means no answer. */
  call: (eventType: string, objectId: string, options?: CallbackOptions) => Promise<number[]>;
  card: (objectId: string) => VirtualCard;
}

const saveClaims = z.object({
  typ: z.literal('savetowallet'),
  payload: z.object({ loyaltyObjects: z.array(z.object({ id: z.string(), classId: z.string() })).length(1) }),
});

const storedObject = z.object({
  classId: z.string(),
  state: z.string(),
  accountName: z.string().optional(),
  barcode: z.object({ value: z.string() }),
  loyaltyPoints: z.object({ label: z.string(), balance: z.record(z.string(), z.unknown()) }),
  secondaryLoyaltyPoints: z.object({ balance: z.record(z.string(), z.unknown()) }).optional(),
  messages: z
    .array(z.object({ header: z.string(), body: z.string(), messageType: z.string().default('TEXT') }))
    .default([]),
});

export function createVirtualGoogleWallet(google: GoogleServer, now: () => number = Date.now): VirtualGoogleWallet {
  function stored(objectId: string): z.output<typeof storedObject> {
    const object = google.rules.objects.get(objectId);
    if (object === undefined) throw new Error(`Google: ${objectId} was never inserted.`);
    return storedObject.parse(object);
  }

  async function call(eventType: string, objectId: string, options: CallbackOptions = {}): Promise<number[]> {
    const { times = 1, forge, nonce = crypto.randomUUID() } = options;
    const { classId } = stored(objectId);
    const url = z
      .object({ callbackOptions: z.object({ url: z.string() }) })
      .safeParse(google.rules.classes.get(classId));
    if (!url.success) return Array.from({ length: times }, () => 0);
    const message = { classId, objectId, eventType, expTimeMillis: now() + 120_000, count: 1, nonce };
    const body = JSON.stringify(
      forge === undefined ? google.signer.sign(message) : forged(google, message, forge, now()),
    );
    const statuses: number[] = [];
    for (let sent = 0; sent < times; sent += 1) statuses.push(await post(url.data.callbackOptions.url, body));
    return statuses;
  }

  return {
    call,
    async save(saveUrl, options) {
      const token = /^https:\/\/pay\.google\.com\/gp\/v\/save\/([^/?#]+)$/.exec(saveUrl)?.[1] ?? '';
      const checks = { issuer: google.clientEmail, audience: 'google', algorithms: ['RS256'], requiredClaims: ['iat'] };
      const { payload } = await jwtVerify(token, google.accountKey, checks);
      const [object] = saveClaims.parse(payload).payload.loyaltyObjects;
      const objectId = object?.id ?? '';
      if (stored(objectId).classId !== object?.classId) throw new Error('Google: the object is of another class.');
      google.rules.setHasUsers(objectId, true);
      return { objectId, statuses: await call('save', objectId, options) };
    },
    async remove(objectId, options) {
      stored(objectId);
      google.rules.setHasUsers(objectId, false);
      return { statuses: await call('del', objectId, options) };
    },
    card(objectId) {
      const object = stored(objectId);
      const program = google.rules.classes.get(object.classId) ?? {};
      const background = program.hexBackgroundColor;
      return {
        label: object.loyaltyPoints.label,
        balance: shown(object.loyaltyPoints.balance),
        secondary: object.secondaryLoyaltyPoints === undefined ? null : shown(object.secondaryLoyaltyPoints.balance),
        state: object.state,
        accountName: object.accountName ?? null,
        barcode: object.barcode.value,
        background: typeof background === 'string' ? background : null,
        messages: object.messages,
        notices: google.rules.notices(objectId),
        pass: { class: program, object: google.rules.objects.get(objectId) ?? {} },
      };
    },
  };
}

function shown(balance: Record<string, unknown>): string {
  return String(Object.values(balance)[0] ?? '');
}

function forged(google: GoogleServer, message: Record<string, unknown>, how: Forgery, now: number): SignedCallback {
  const { signer } = google;
  const good = signer.sign(message);
  const stranger = signer.sign({ ...message, nonce: 'another' });
  switch (how) {
    case 'signature':
      return { ...good, signature: stranger.signature };
    case 'message':
      return { ...good, signedMessage: good.signedMessage.replace('"count":1', '"count":2') };
    case 'intermediate':
      return { ...good, intermediateSigningKey: { ...good.intermediateSigningKey, signatures: [stranger.signature] } };
    case 'recipient':
      return signer.sign(message, { recipient: '3388000000099999999' });
    case 'sender':
      return signer.sign(message, { sender: 'GooglePay' });
    case 'protocol':
      return signer.sign(message, { protocolVersion: 'ECv2' });
    case 'expiredKey':
      return signer.sign(message, { keyExpiresAt: now - 1_000 });
    case 'expiredMessage':
      return signer.sign({ ...message, expTimeMillis: now - 1_000 });
    case 'otherIssuer':
      return signer.sign({ ...message, objectId: '3388000000099999999.member-x' });
  }
}

async function post(url: string, body: string): Promise<number> {
  try {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Googlebot' };
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
