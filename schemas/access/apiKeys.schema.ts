// API keys (docs/interface.md, sections 2.9 and 4.1): the secret is shown once, and only its hash is stored.
import { z } from 'zod';
import { isCidr } from '../shared/addresses.rules.js';
import { momentText } from '../shared/calendar.rules.js';
import { newToken, sha256 } from '../shared/ids.js';
import { idText, nameText, text } from '../shared/text.js';

export const maxActiveKeys = 10;
const prefixLength = 12;

const maxNetworks = 50;

const network = text(2, 50).refine(isCidr, 'must be an address or a CIDR, as 203.0.113.0/24');

export const apiKeyRequest = z.strictObject({
  name: nameText(100),
  roleIds: z.array(idText()).min(1).max(20),
  expiresAt: momentText.optional(),
  allowedNetworks: z
    .array(network)
    .min(1)
    .max(maxNetworks)
    .optional()
    .describe('addresses and CIDRs from which the key works; from everywhere, when left out'),
});

export const apiKey = z.object({
  id: z.string(),
  name: z.string(),
  keyPrefix: z.string(),
  roleIds: z.array(z.string()),
  createdBy: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable().describe('to the minute; null until the first request'),
  expiresAt: z.iso.datetime().nullable().describe('null: never'),
  revokedAt: z.iso.datetime().nullable().describe('null: not revoked'),
  allowedNetworks: z.array(z.string()).nullable().describe('null: from everywhere'),
});

export const apiKeyWithSecret = apiKey.extend({ key: z.string() });

/** The key has 256 random bits; only `hash` and `keyPrefix` are stored or logged. */
export function newApiKey(): { key: string; keyPrefix: string; hash: string } {
  const key = `lps_${newToken(32)}`;
  return { key, keyPrefix: key.slice(0, prefixLength), hash: sha256(key) };
}

export const isApiKey = (value: string): boolean => /^lps_[A-Za-z0-9_-]{43}$/.test(value);

/** A key, as the answer to a change of its creator names it. */
export const heldKey = apiKey.pick({ id: true, name: true, lastUsedAt: true });
