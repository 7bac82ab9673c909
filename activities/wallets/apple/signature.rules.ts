// Signs the manifest of a pass: detached CMS SignedData over manifest.json, which contains the signer's and the WWDR
// certificate. The digest is SHA-256, and for larger elliptic curves the one of the curve's size, as Apple's own tool
// makes them (apple/pass-builder); the algorithms are written as RFC 5754 has them.
import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { der, derElements, derOid, derTime, TAG } from './der.rules.js';

const NULL = der(TAG.null);
const RSA_ENCRYPTION = der(TAG.sequence, derOid('1.2.840.113549.1.1.1'), NULL);
const DATA = derOid('1.2.840.113549.1.7.1');
const SIGNED_DATA = derOid('1.2.840.113549.1.7.2');
const VERSION_1 = der(TAG.integer, Buffer.from([1]));
const CONTENT_TYPE = der(TAG.sequence, derOid('1.2.840.113549.1.9.3'), der(TAG.set, DATA));
const MESSAGE_DIGEST = derOid('1.2.840.113549.1.9.4');
const SIGNING_TIME = derOid('1.2.840.113549.1.9.5');
const DETACHED_DATA = der(TAG.sequence, DATA);

interface Algorithms {
  hash: 'sha256' | 'sha384' | 'sha512';
  /** CMS DigestAlgorithmIdentifier and SignatureAlgorithmIdentifier. */
  digest: Buffer;
  signature: Buffer;
}

const algorithms = (hash: Algorithms['hash'], digestOid: string, signature: Buffer): Algorithms => ({
  ...{ hash, signature },
  digest: der(TAG.sequence, derOid(digestOid)),
});
const ecdsa = (oid: string) => der(TAG.sequence, derOid(oid));

const SHA256_OID = '2.16.840.1.101.3.4.2.1';
const ofCurves: Record<string, Algorithms> = {
  prime256v1: algorithms('sha256', SHA256_OID, ecdsa('1.2.840.10045.4.3.2')),
  secp384r1: algorithms('sha384', '2.16.840.1.101.3.4.2.2', ecdsa('1.2.840.10045.4.3.3')),
  secp521r1: algorithms('sha512', '2.16.840.1.101.3.4.2.3', ecdsa('1.2.840.10045.4.3.4')),
};
const ofRsa = algorithms('sha256', SHA256_OID, RSA_ENCRYPTION);

/** undefined: passes cannot be signed with a key of this kind. */
const algorithmsOf = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Algorithms | undefined =>
  asymmetricKeyType === 'rsa' ? ofRsa : ofCurves[asymmetricKeyDetails?.namedCurve ?? ''];

export const canSign = (key: KeyObject): boolean => algorithmsOf(key) !== undefined;

/** The parts of a signature that are the same for all passes of one certificate, computed once. */
export interface PassSigner {
  key: KeyObject;
  algorithms: Algorithms;
  certificates: Buffer;
  /** CMS IssuerAndSerialNumber. */
  identifier: Buffer;
}

export function passSigner(input: {
  signerCert: X509Certificate;
  signerKey: KeyObject;
  wwdrCert: X509Certificate;
}): PassSigner {
  const found = algorithmsOf(input.signerKey);
  if (!found) throw new TypeError('passes cannot be signed with a key of this kind');
  return {
    key: input.signerKey,
    algorithms: found,
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
  const { hash, digest: digestAlgorithm, signature: signatureAlgorithm } = signer.algorithms;
  const digest = createHash(hash).update(manifest).digest();
  // DER orders the elements of a SET OF by their encodings; here this means the shortest first.
  const attributes = Buffer.concat([
    CONTENT_TYPE,
    der(TAG.sequence, SIGNING_TIME, der(TAG.set, derTime(signedAt))),
    der(TAG.sequence, MESSAGE_DIGEST, der(TAG.set, der(TAG.octetString, digest))),
  ]);
  // RFC 5652, 5.4: the signed bytes have the SET tag, the stored bytes have [0].
  const signature = sign(hash, der(TAG.set, attributes), signer.key);
  const signerInfo = der(
    TAG.sequence,
    VERSION_1,
    signer.identifier,
    digestAlgorithm,
    der(TAG.context0, attributes),
    signatureAlgorithm,
    der(TAG.octetString, signature),
  );
  const signedData = der(
    TAG.sequence,
    VERSION_1,
    der(TAG.set, digestAlgorithm),
    DETACHED_DATA,
    signer.certificates,
    der(TAG.set, signerInfo),
  );
  return der(TAG.sequence, SIGNED_DATA, der(TAG.context0, signedData));
}
