// Creates the "Add to Google Wallet" link: a short JWT that contains only the ids of an object that was inserted
// before. So the URL contains no name and no balance (docs/protocols/google-wallet.md#4-save-link).
import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { RealGoogleCredentials } from './credentials.rules.js';

/** `origins`: sites that may show Google's own button. */
export function createSaveUrl(
  credentials: Pick<RealGoogleCredentials, 'clientEmail' | 'privateKey'>,
  origins: string[],
): (objectId: string, classId: string) => Promise<string> {
  const key = createPrivateKey(credentials.privateKey);
  return async function saveUrl(objectId, classId) {
    const token = await new SignJWT({
      aud: 'google',
      typ: 'savetowallet',
      origins,
      payload: { loyaltyObjects: [{ id: objectId, classId }] },
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(credentials.clientEmail)
      .setIssuedAt()
      .sign(key);
    return `https://pay.google.com/gp/v/save/${token}`;
  };
}
