// The rows of merchants, keys, users and the audit, and their indexes.
import type { Stored } from '../shared/answers.js';
import { days, type IndexesOf } from '../shared/indexes.js';
import type { apiKey } from './apiKeys.schema.js';
import type { auditItem } from './audit.schema.js';
import type { MerchantLimits } from './merchantLimits.schema.js';
import type { role } from './roles.schema.js';
import type { user } from './users.schema.js';

export interface ApiKeyRow extends Stored<typeof apiKey, 'lastUsedAt' | 'expiresAt' | 'revokedAt' | 'allowedNetworks'> {
  merchantId: string;
  hash: string;
}

export interface RoleRow extends Omit<Stored<typeof role>, 'builtIn'> {
  /** Null: the role is built in. */
  merchantId: string | null;
}

/** A user, who may sign in to the console of one merchant. The address never changes and is unique in the merchant. */
export interface UserRow extends Stored<typeof user, 'lastSignInAt'> {
  merchantId: string;
  /** Incremented by each change and each sign-in, whose writes compare it. */
  version: number;
  /** The person's identity at the OpenID provider, since the first sign-in there. */
  identity?: { issuer: string; sub: string };
}

/** A session of the service; the id is the `sid` of its token. Deleting the row ends the session. */
export interface SessionRow {
  _id: string;
  merchantId: string;
  userId: string;
  createdAt: Date;
  /** The end of the session: after the idle time, or after the maximum duration. */
  endsAt: Date;
}

/** A sign-in link; the id is the hash of its token. */
export interface SignInLinkRow {
  _id: string;
  email: string;
  /** The users that the link can sign in; the person chooses one of them. */
  userIds: string[];
  /** Only for a person who came from the OpenID provider. */
  identity?: { issuer: string; sub: string };
  expiresAt: Date;
  usedAt?: Date;
}

export interface MerchantRow {
  _id: string;
  name: string;
  createdAt: Date;
  /** Set while the operator has suspended the merchant. */
  suspendedAt?: Date;
  /** Limits that differ from the settings for this merchant. */
  limits?: Partial<MerchantLimits>;
}

/** An audit entry: one change, its actor and its target. Never changed. Contains no secret and no personal data of members. */
export interface AuditRow extends Omit<Stored<typeof auditItem>, 'targetName'> {
  merchantId: string;
}

/** How long a revoked or expired API key is kept. */
export const endedKeyDays = 30;

export interface AccessCollections {
  merchants: MerchantRow;
  apiKeys: ApiKeyRow;
  roles: RoleRow;
  users: UserRow;
  sessions: SessionRow;
  signInLinks: SignInLinkRow;
  audit: AuditRow;
}

export const accessIndexes: IndexesOf<AccessCollections> = {
  merchants: [
    { key: { suspendedAt: 1 }, sparse: true, reason: 'suspended merchants, read every second' },
    { key: { 'limits.requests': 1 }, sparse: true, reason: 'limits of requests, read every second' },
  ],
  apiKeys: [
    { key: { hash: 1 }, unique: true, reason: 'authentication' },
    { key: { merchantId: 1, createdAt: -1 }, reason: 'the list' },
    { key: { revokedAt: 1 }, expireAfterSeconds: days(endedKeyDays), reason: 'a merchant has a bounded number' },
    { key: { expiresAt: 1 }, expireAfterSeconds: days(endedKeyDays), reason: 'a merchant has a bounded number' },
  ],
  roles: [{ key: { merchantId: 1, _id: 1 }, reason: 'the list, and how many there are' }],
  users: [
    { key: { merchantId: 1, email: 1 }, reason: 'the list; whether an address is a user already' },
    { key: { email: 1 }, reason: 'the users of a sign-in link' },
    { key: { 'identity.sub': 1 }, sparse: true, reason: 'sign-in by the OpenID provider' },
  ],
  sessions: [
    { key: { userId: 1 }, reason: 'the sessions that end with their user' },
    { key: { endsAt: 1 }, expireAfterSeconds: 0, reason: 'sessions are removed when they have expired' },
  ],
  signInLinks: [
    { key: { email: 1 }, reason: 'the links that sign-out everywhere voids' },
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, reason: 'links are removed when they have expired' },
  ],
  audit: [
    { key: { merchantId: 1, createdAt: -1, _id: -1 }, reason: 'the list, newest first' },
    { key: { merchantId: 1, targetId: 1, createdAt: -1, _id: -1 }, reason: 'the changes of one target' },
    { key: { merchantId: 1, 'actor.id': 1, createdAt: -1, _id: -1 }, reason: 'what somebody did' },
    { key: { merchantId: 1, action: 1, createdAt: -1, _id: -1 }, reason: 'the actors of one action' },
    { key: { createdAt: 1 }, expireAfterSeconds: days(400), reason: 'the audit is kept 400 days' },
  ],
};
