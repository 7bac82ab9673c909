// Makes a certificate authority for one test run, and certificates of that authority for the TLS receivers of the
// tests.
import { isIP } from 'node:net';
import forge from 'node-forge';
import { newKeyPair } from './keyPairs.js';

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
}

export interface TestAuthority {
  /** PEM of the authority's certificate, for the option `ca`. */
  ca: string;
  /** Issues a server certificate for these names and addresses. */
  issue(hosts: readonly string[], validity?: { notBefore: Date; notAfter: Date }): Certificate;
}

const day = 86_400_000;
const aroundNow = () => ({ notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() + day) });

export function createTestAuthority(): TestAuthority {
  const authority = newKey();
  const subject = [{ name: 'commonName', value: 'Test Authority' }];
  const root = newCertificate(authority.publicKey, aroundNow());
  root.setSubject(subject);
  root.setIssuer(subject);
  root.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
  root.sign(authority.privateKey, forge.md.sha256.create());

  return {
    ca: forge.pki.certificateToPem(root),
    issue(hosts, validity = aroundNow()) {
      const server = newKey();
      const certificate = newCertificate(server.publicKey, validity);
      certificate.setSubject([{ name: 'commonName', value: hosts[0] ?? 'test' }]);
      certificate.setIssuer(subject);
      certificate.setExtensions([{ name: 'subjectAltName', altNames: hosts.map(altName) }]);
      certificate.sign(authority.privateKey, forge.md.sha256.create());
      return { cert: forge.pki.certificateToPem(certificate), key: server.pem };
    },
  };
}

function newKey() {
  const { privatePem: pem } = newKeyPair('rsa');
  const privateKey = forge.pki.privateKeyFromPem(pem);
  return { pem, privateKey, publicKey: forge.pki.setRsaPublicKey(privateKey.n, privateKey.e) };
}

function newCertificate(publicKey: forge.pki.rsa.PublicKey, validity: { notBefore: Date; notAfter: Date }) {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`;
  certificate.validity.notBefore = validity.notBefore;
  certificate.validity.notAfter = validity.notAfter;
  return certificate;
}

function altName(host: string) {
  return isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host };
}
