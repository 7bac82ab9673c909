// Makes certificates like those of Apple's developer portal with the openssl command: a WWDR authority, a pass
// certificate with the pass type as UID and the team as OU, a push key, and a certificate for the APNs stand-in.
import { execFile } from 'node:child_process';
import { generateKeyPair, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AppleSettings } from '../../../activities/wallets/apple/pemSettings.rules.js';

const run = promisify(execFile);
const makeKeys = promisify(generateKeyPair);

export interface AppleCertificates {
  passTypeId: string;
  teamId: string;
  signerCert: string;
  signerKey: string;
  /** The signer's key, encrypted with `passphrase`. */
  encryptedSignerKey: string;
  passphrase: string;
  /** The root of the certificate chain. */
  wwdrCert: string;
  /** The text of the push key's .p8 file, and the key's id. */
  apnsKey: string;
  apnsKeyId: string;
  /** A self-signed certificate for `localhost` and 127.0.0.1. */
  server: { cert: string; key: string };
  /** The service's settings with all of these certificates, without the address of APNs and the push key. */
  settings: AppleSettings;
}

export interface AppleCertificateOptions {
  passTypeId?: string;
  teamId?: string;
  /** The OU of the WWDR certificate. */
  wwdrGeneration?: string;
  days?: number;
  /** The elliptic curve of the pass certificate's key; default: RSA. */
  curve?: string;
}

const PASSPHRASE = 'a passphrase';

async function rsaKey(): Promise<string> {
  const { privateKey } = await makeKeys('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

async function ecKey(namedCurve = 'prime256v1'): Promise<string> {
  const { privateKey } = await makeKeys('ec', { namedCurve });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

export async function makeAppleCertificates(options: AppleCertificateOptions = {}): Promise<AppleCertificates> {
  const { passTypeId = 'pass.com.example.loyalty', teamId = 'TEAM123456', wwdrGeneration = 'G4', days = 365 } = options;
  const { curve } = options;
  const folder = await mkdtemp(join(tmpdir(), 'apple-certificates-'));
  const file = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => run('openssl', args);
  try {
    const signer = curve === undefined ? rsaKey() : ecKey(curve);
    const [wwdrKey, signerKey, serverKey, apnsKey] = await Promise.all([rsaKey(), signer, ecKey(), ecKey()]);
    await writeFile(file('wwdr.key'), wwdrKey);
    await writeFile(file('signer.key'), signerKey);
    await writeFile(file('server.key'), serverKey);
    const authority = `/CN=Apple Worldwide Developer Relations Certification Authority/OU=${wwdrGeneration}/O=Apple Inc./C=US`;
    await openssl(
      ...['req', '-x509', '-sha256', '-key', file('wwdr.key'), '-subj', authority, '-days', String(days + 1)],
      ...['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
      ...['-out', file('wwdr.pem')],
    );
    const subject = `/UID=${passTypeId}/CN=Pass Type ID: ${passTypeId}/OU=${teamId}/O=Example Ltd/C=US`;
    await openssl('req', '-new', '-key', file('signer.key'), '-subj', subject, '-out', file('signer.csr'));
    await writeFile(file('signer.ext'), 'keyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth\n');
    await openssl(
      ...['x509', '-req', '-sha256', '-in', file('signer.csr'), '-CA', file('wwdr.pem'), '-CAkey', file('wwdr.key')],
      ...['-set_serial', `0x${randomBytes(8).toString('hex')}`, '-days', String(days), '-extfile', file('signer.ext')],
      ...['-out', file('signer.pem')],
    );
    await openssl(
      ...['pkey', '-aes256', '-in', file('signer.key'), '-passout', `pass:${PASSPHRASE}`, '-out', file('locked.key')],
    );
    await openssl(
      ...['req', '-x509', '-sha256', '-key', file('server.key'), '-subj', '/CN=localhost', '-days', String(days)],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-out', file('server.pem')],
    );
    const read = (name: string) => readFile(file(name), 'utf8');
    const [signerCert, wwdrCert, encryptedSignerKey] = await Promise.all([
      read('signer.pem'),
      read('wwdr.pem'),
      read('locked.key'),
    ]);
    return {
      passTypeId,
      teamId,
      signerCert,
      signerKey,
      encryptedSignerKey,
      passphrase: PASSPHRASE,
      wwdrCert,
      apnsKey,
      apnsKeyId: 'KEY1234567',
      server: { cert: await read('server.pem'), key: serverKey },
      settings: {
        APPLE_PASS_TYPE_ID: passTypeId,
        APPLE_TEAM_ID: teamId,
        APPLE_SIGNER_CERT: signerCert,
        APPLE_SIGNER_KEY: signerKey,
        APPLE_WWDR_CERT: wwdrCert,
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
