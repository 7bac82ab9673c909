// Signs the manifest of a pass: detached CMS SignedData over manifest.json, which contains the signer's and the WWDR
// certificate. All digests are SHA-1: the pass format is older than the deprecation of SHA-1, and phones expect it.
import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { der, derElements, derOid, derTime, TAG } from './der.rules.js';

const NULL = der(TAG.null);
const SHA1 = der(TAG.sequence, derOid('1.3.14.3.2.26'), NULL);
const RSA_ENCRYPTION = der(TAG.sequence, derOid('1.2.840.113549.1.1.1'), NULL);
const DATA = derOid('1.2.840.113549.1.7.1');
const SIGNED_DATA = derOid('1.2.840.113549.1.7.2');
const VERSION_1 = der(TAG.integer, Buffer.from([1]));
const CONTENT_TYPE = der(TAG.sequence, derOid('1.2.840.113549.1.9.3'), der(TAG.set, DATA));
const MESSAGE_DIGEST = derOid('1.2.840.113549.1.9.4');
const SIGNING_TIME = derOid('1.2.840.113549.1.9.5');
const DIGEST_ALGORITHMS = der(TAG.set, SHA1);
const DETACHED_DATA = der(TAG.sequence, DATA);

/** The parts of a signature that are the same for all passes of one certificate, computed once. */
export interface PassSigner {
  key: KeyObject;
  certificates: Buffer;
  /** CMS IssuerAndSerialNumber. */
  identifier: Buffer;
}

export function passSigner(input: {
  signerCert: X509Certificate;
  signerKey: KeyObject;
  wwdrCert: X509Certificate;
}): PassSigner {
  return {
    key: input.signerKey,
    certificates: der(TAG.context0, input.wwdrCert.raw, input.signerCert.raw),
    identifier: issuerAndSerial(input.signerCert),
  };
}

function issuerAndSerial(certificate: X509Certificate): Buffer {
  const [outer] = derElements(certificate.raw);
  const [toBeSigned] = derElements(outer?.content ?? Buffer.alloc(0));
  const fields = derElements(toBeSigned?.content ?? Buffer.alloc(0));
  // Version 1 certificates lack the [0] version field before the serial number.
  const [serial, , issuer] = fields[0]?.tag === TAG.context0 ? fields.slice(1) : fields;
  if (serial?.tag !== TAG.integer || issuer?.tag !== TAG.sequence) throw new RangeError('not an X.509 certificate');
  return der(TAG.sequence, issuer.whole, serial.whole);
}

export function signManifest(signer: PassSigner, manifest: Buffer, signedAt: Date): Buffer {
  const digest = createHash('sha1').update(manifest).digest();
  // DER orders the elements of a SET OF by their encodings; here this means the shortest first.
  const attributes = Buffer.concat([
    CONTENT_TYPE,
    der(TAG.sequence, SIGNING_TIME, der(TAG.set, derTime(signedAt))),
    der(TAG.sequence, MESSAGE_DIGEST, der(TAG.set, der(TAG.octetString, digest))),
  ]);
  // RFC 5652, 5.4: the signed bytes have the SET tag, the stored bytes have [0].
  const signature = sign('sha1', der(TAG.set, attributes), signer.key);
  const signerInfo = der(
    TAG.sequence,
    VERSION_1,
    signer.identifier,
    SHA1,
    der(TAG.context0, attributes),
    RSA_ENCRYPTION,
    der(TAG.octetString, signature),
  );
  const signedData = der(
    TAG.sequence,
    VERSION_1,
    DIGEST_ALGORITHMS,
    DETACHED_DATA,
    signer.certificates,
    der(TAG.set, signerInfo),
  );
  return der(TAG.sequence, SIGNED_DATA, der(TAG.context0, signedData));
}
