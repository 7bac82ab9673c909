import { createCipheriv } from 'node:crypto';
import { parseKeyRing } from '../../../schemas/shared/keyRing.rules.js';

/** Encrypts as before secrets were bound to a place and before keys were a ring. */
export function sealUnbound(text: string, base64Key: string): string {
  const { id, key } = parseKeyRing(base64Key).newest;
  const iv = Buffer.alloc(12, 5);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${id}.${iv.toString('base64url')}.${sealed.toString('base64url')}`;
}
