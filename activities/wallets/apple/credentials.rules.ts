// Decides whether Apple Wallet is real or a stub. It is real only when every setting is present, readable, unexpired
// and fits the others; otherwise it is a stub with a reason of one sentence. Loading never throws, so a wrong
// certificate cannot stop the service.
import type { KeyObject, X509Certificate } from 'node:crypto';
import { isSecureOrLocal } from '../../../schemas/shared/addresses.rules.js';
import { type AppleSettings, authorities, CredentialProblem, certificate, privateKey } from './pemSettings.rules.js';
import { canSign, type PassSigner, passSigner } from './signature.rules.js';

export interface ApnsKey {
  key: KeyObject;
  keyId: string;
  teamId: string;
}

export interface RealAppleCredentials {
  mode: 'real';
  passTypeId: string;
  teamId: string;
  signerCert: X509Certificate;
  signerKey: KeyObject;
  wwdrCert: X509Certificate;
  signer: PassSigner;
  /** `G1` to `G6`; null when the certificate does not contain it. */
  wwdrGeneration: string | null;
  /** When the first of the two certificates expires. From then on the wallet is a stub. */
  expiresAt: Date;
  warnings: string[];
  apnsOrigin: string;
  /** PEM of the authority that signed the certificate of APNs, in place of the system's authorities. */
  apnsCa?: string;
  /** Authenticates pushes in place of the pass certificate. */
  apnsKey?: ApnsKey;
}

export type AppleCredentials = RealAppleCredentials | { mode: 'stub'; reason: string };

const REQUIRED = [
  'APPLE_PASS_TYPE_ID',
  'APPLE_TEAM_ID',
  'APPLE_SIGNER_CERT',
  'APPLE_SIGNER_KEY',
  'APPLE_WWDR_CERT',
] as const;

const APPLE_PUSH_ORIGIN = 'https://api.push.apple.com';
const WARN_BEFORE_EXPIRY_MS = 30 * 24 * 60 * 60 * 1000;

export function loadAppleCredentials(settings: AppleSettings, now: Date): AppleCredentials {
  try {
    return load(settings, now);
  } catch (error) {
    if (error instanceof CredentialProblem) return { mode: 'stub', reason: error.message };
    return { mode: 'stub', reason: 'The Apple Wallet credentials cannot be understood.' };
  }
}

function load(settings: AppleSettings, now: Date): RealAppleCredentials {
  const missing = REQUIRED.filter((name) => !settings[name]);
  if (missing.length === REQUIRED.length) throw new CredentialProblem('No Apple Wallet credentials are configured.');
  if (missing.length > 0) {
    throw new CredentialProblem(`Apple Wallet is not fully configured: ${missing.join(', ')} missing.`);
  }
  const passTypeId = settings.APPLE_PASS_TYPE_ID ?? '';
  const teamId = settings.APPLE_TEAM_ID ?? '';
  const signerCert = certificate('APPLE_SIGNER_CERT', settings);
  const wwdrCert = certificate('APPLE_WWDR_CERT', settings);
  const signerKey = privateKey('APPLE_SIGNER_KEY', settings, settings.APPLE_SIGNER_KEY_PASSPHRASE);
  checkKey(signerCert, signerKey);
  checkSubject(signerCert, passTypeId, teamId);
  checkIssuer(signerCert, wwdrCert);
  checkDates('APPLE_SIGNER_CERT', signerCert, now);
  checkDates('APPLE_WWDR_CERT', wwdrCert, now);
  const wwdrGeneration = generation(wwdrCert);
  const expiresAt = new Date(Math.min(Date.parse(signerCert.validTo), Date.parse(wwdrCert.validTo)));
  const push = pushKey(settings, teamId);
  return {
    mode: 'real',
    passTypeId,
    teamId,
    signerCert,
    signerKey,
    wwdrCert,
    signer: passSigner({ signerCert, signerKey, wwdrCert }),
    wwdrGeneration,
    expiresAt,
    warnings: [
      ...expiryWarnings(expiresAt, now),
      ...(wwdrGeneration === null ? ['APPLE_WWDR_CERT is of no WWDR generation that is known here.'] : []),
      ...push.warnings,
    ],
    apnsOrigin: pushOrigin(settings.APNS_ORIGIN || APPLE_PUSH_ORIGIN),
    ...(settings.APNS_CA && { apnsCa: authorities('APNS_CA', settings) }),
    ...(push.apnsKey && { apnsKey: push.apnsKey }),
  };
}

function checkKey(signerCert: X509Certificate, signerKey: KeyObject): void {
  if (!signerCert.checkPrivateKey(signerKey)) {
    throw new CredentialProblem('APPLE_SIGNER_KEY is not the key of APPLE_SIGNER_CERT.');
  }
  if (!canSign(signerKey))
    throw new CredentialProblem('APPLE_SIGNER_KEY is neither an RSA key nor one of the curves P-256, P-384 and P-521.');
}

function checkSubject(signerCert: X509Certificate, passTypeId: string, teamId: string): void {
  const passTypes = [...subjectValues(signerCert, 'UID'), ...subjectValues(signerCert, 'CN').map(afterColon)];
  if (!passTypes.includes(passTypeId)) {
    throw new CredentialProblem(`APPLE_SIGNER_CERT is for pass type ${passTypes[0] ?? 'none'}, not for ${passTypeId}.`);
  }
  const teams = subjectValues(signerCert, 'OU');
  if (!teams.includes(teamId)) {
    throw new CredentialProblem(`APPLE_SIGNER_CERT is of team ${teams[0] ?? 'none'}, not of ${teamId}.`);
  }
}

/** Apple writes the common name as `Pass Type ID: pass.com.example`. */
const afterColon = (name: string) => name.slice(name.indexOf(':') + 1).trim();

function subjectValues(cert: X509Certificate, key: string): string[] {
  const lines = cert.subject.split('\n').filter((line) => line.startsWith(`${key}=`));
  return lines.map((line) => line.slice(key.length + 1));
}

function checkIssuer(signerCert: X509Certificate, wwdrCert: X509Certificate): void {
  if (signerCert.checkIssued(wwdrCert) && signerCert.verify(wwdrCert.publicKey)) return;
  const found = generation(wwdrCert);
  const named = found === null ? 'APPLE_WWDR_CERT' : `APPLE_WWDR_CERT (${found})`;
  throw new CredentialProblem(`${named} did not issue APPLE_SIGNER_CERT: it must be of the generation that did.`);
}

/**
 * Apple's intermediate certificates have their generation as OU. The first one (G1, expired in 2023) has only Apple's
 * name.
 */
function generation(wwdrCert: X509Certificate): string | null {
  const units = subjectValues(wwdrCert, 'OU');
  const numbered = units.find((unit) => /^G[1-6]$/.test(unit));
  if (numbered !== undefined) return numbered;
  return units.includes('Apple Worldwide Developer Relations') ? 'G1' : null;
}

function checkDates(name: string, cert: X509Certificate, now: Date): void {
  const expiry = new Date(cert.validTo);
  if (expiry <= now) throw new CredentialProblem(`${name} expired on ${day(expiry)}.`);
  const start = new Date(cert.validFrom);
  if (start > now) throw new CredentialProblem(`${name} is valid only from ${day(start)} on.`);
}

const day = (date: Date) => date.toISOString().slice(0, 10);

function expiryWarnings(expiresAt: Date, now: Date): string[] {
  if (expiresAt.getTime() - now.getTime() > WARN_BEFORE_EXPIRY_MS) return [];
  return [`The Apple Wallet certificates expire on ${day(expiresAt)}.`];
}

/** A wrong push key only produces a warning, because the pass certificate can authenticate pushes as well. */
function pushKey(settings: AppleSettings, teamId: string): { apnsKey?: ApnsKey; warnings: string[] } {
  if (!settings.APNS_KEY && !settings.APNS_KEY_ID) return { warnings: [] };
  const refused = (why: string) => ({ warnings: [`${why}; pushes use the pass certificate instead.`] });
  if (!settings.APNS_KEY) return refused('APNS_KEY is missing');
  if (!settings.APNS_KEY_ID) return refused('APNS_KEY_ID is missing');
  try {
    const key = privateKey('APNS_KEY', settings);
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return refused('APNS_KEY is not a P-256 key');
    return { apnsKey: { key, keyId: settings.APNS_KEY_ID, teamId }, warnings: [] };
  } catch (error) {
    return refused(error instanceof CredentialProblem ? error.message.slice(0, -1) : 'APNS_KEY cannot be used');
  }
}

function pushOrigin(origin: string): string {
  if (URL.canParse(origin) && isSecureOrLocal(new URL(origin))) return new URL(origin).origin;
  throw new CredentialProblem('APNS_ORIGIN is not an https: address.');
}
