// Checks the signature of a pass in this process, with node-forge's reader of ASN.1 and the verification of Node: as
// `openssl cms -verify` does, for tests of many passes.
import { createHash, verify, X509Certificate } from 'node:crypto';
import forge from 'node-forge';

const { asn1 } = forge;
type Node = forge.asn1.Asn1;

const hashes: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const data = '1.2.840.113549.1.7.1';
const signedData = '1.2.840.113549.1.7.2';
const contentType = '1.2.840.113549.1.9.3';
const messageDigest = '1.2.840.113549.1.9.4';
const signingTime = '1.2.840.113549.1.9.5';

const childrenOf = (node: Node | undefined): Node[] => {
  if (!Array.isArray(node?.value)) throw new Error('not a CMS of this form');
  return node.value;
};
const textOf = (node: Node | undefined): string => {
  if (typeof node?.value !== 'string') throw new Error('not a CMS of this form');
  return node.value;
};
const bytesOf = (node: Node | undefined): Buffer => Buffer.from(textOf(node), 'latin1');
const oidOf = (node: Node | undefined): string => asn1.derToOid(textOf(node));
const derOf = (node: Node): Buffer => Buffer.from(asn1.toDer(node).getBytes(), 'latin1');

/** Returns the signer's certificate. Throws when the signature is not one over the content, or of another authority. */
export function signerOf(signature: Buffer, content: Buffer, authority: string): X509Certificate {
  const [kind, body] = childrenOf(asn1.fromDer(signature.toString('latin1')));
  if (oidOf(kind) !== signedData) throw new Error('not signed data');
  const [, , , certificates, signers] = childrenOf(childrenOf(body)[0]);
  const [signer, ...others] = childrenOf(signers);
  if (others.length > 0) throw new Error('more than one signer');
  const [, identifier, digestAlgorithm, attributes, , signed] = childrenOf(signer);
  if (attributes === undefined) throw new Error('no signed attributes');

  const hash = hashes[oidOf(childrenOf(digestAlgorithm)[0])];
  if (hash === undefined) throw new Error('another digest');
  const values = new Map(
    childrenOf(attributes).map((attribute) => {
      const [name, given] = childrenOf(attribute);
      return [oidOf(name), childrenOf(given)[0]];
    }),
  );
  if (oidOf(values.get(contentType)) !== data) throw new Error('another type of content');
  if (!values.has(signingTime)) throw new Error('no signing time');
  const digest = createHash(hash).update(content).digest();
  if (!bytesOf(values.get(messageDigest)).equals(digest)) throw new Error('signs another content');

  const given = childrenOf(certificates).map((certificate) => new X509Certificate(derOf(certificate)));
  const serial = BigInt(`0x${bytesOf(childrenOf(identifier)[1]).toString('hex')}`);
  const own = given.find(({ serialNumber }) => BigInt(`0x${serialNumber}`) === serial);
  const above = new X509Certificate(authority);
  if (own === undefined) throw new Error("the signer's certificate is missing");
  if (!given.some(({ raw }) => raw.equals(above.raw))) throw new Error("the authority's certificate is missing");
  if (!own.checkIssued(above) || !own.verify(above.publicKey)) throw new Error('another authority');

  // RFC 5652, 5.4: the signed bytes have the tag of a SET.
  const bytes = derOf(attributes);
  bytes[0] = 0x31;
  if (!verify(hash, bytes, own.publicKey, bytesOf(signed))) throw new Error('a wrong signature');
  return own;
}
