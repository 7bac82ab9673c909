// Certificates in PEM, as settings hold them. TLS would leave out what it cannot read, without a word.
import { X509Certificate } from 'node:crypto';

/** Throws when there is none, or one cannot be read. */
export function certificatesOf(pem: string): X509Certificate[] {
  const blocks = pem.split(/(?=-----BEGIN )/).filter((block) => block.startsWith('-----BEGIN '));
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch {}
  throw new Error('must be certificates in PEM');
}
