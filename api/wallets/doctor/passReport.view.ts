// The pass doctor's report as callers see it: without push tokens, device identifiers and authentication tokens.
import type { X509Certificate } from 'node:crypto';
import type { RealAppleCredentials } from '../../../activities/wallets/apple/credentials.rules.js';
import type { PassReport } from '../../../schemas/wallets/passReport.schema.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import type { Examination } from './examination.schema.js';

const iso = (date: Date | undefined): string | null => date?.toISOString() ?? null;

export function presentReport(examined: Examination, now: Date): PassReport {
  const { member, modes, credentials, build, lastPatch } = examined;
  const { pass, serialNumber } = member;
  return {
    serialNumber,
    version: { tag: pass.tag.toISOString(), lastModified: pass.modifiedAt.toISOString() },
    apple: {
      ...modes.apple,
      certificates: credentials && presentCertificates(credentials, now),
      issuedAt: iso(pass.appleIssuedAt),
      build,
      webServiceUrl: examined.webServiceUrl,
      devices: examined.devices.map((device) => presentDevice(device, pass.tag)),
      logs: examined.logs.map(({ receivedAt, message }) => ({ at: receivedAt.toISOString(), message })),
    },
    google: {
      ...modes.google,
      objectId: examined.googleObjectId,
      issuedAt: iso(pass.googleIssuedAt),
      saved: pass.googleSaved === true,
      ...(pass.googleSaveUrl && { saveUrl: pass.googleSaveUrl }),
      lastPatch: lastPatch && {
        at: lastPatch.occurredAt.toISOString(),
        outcome: lastPatch.outcome,
        ...(lastPatch.detail !== undefined && { detail: lastPatch.detail }),
      },
    },
    findings: examined.findings,
  };
}

const dayMs = 86_400_000;

function presentCertificates(credentials: RealAppleCredentials, now: Date): PassReport['apple']['certificates'] {
  const { passTypeId, teamId, signerCert, wwdrCert, wwdrGeneration, expiresAt, apnsKey, warnings } = credentials;
  return {
    passTypeId,
    teamId,
    chain: [signerCert, wwdrCert].map(presentCertificate),
    wwdrGeneration,
    expiresAt: expiresAt.toISOString(),
    daysToExpiry: Math.floor((expiresAt.getTime() - now.getTime()) / dayMs),
    pushesBy: apnsKey ? 'token' : 'certificate',
    warnings,
  };
}

function presentCertificate({ subject, issuer, validFrom, validTo }: X509Certificate) {
  const oneLine = (name: string) => name.split('\n').join(', ');
  return {
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    validFrom: new Date(validFrom).toISOString(),
    validTo: new Date(validTo).toISOString(),
  };
}

function presentDevice(device: DeviceRow, newest: Date): PassReport['apple']['devices'][number] {
  const { _id: id, registeredAt, lastPush, lastListedAt, lastFetchedAt, fetchedTag, recheckAt, stale } = device;
  return {
    id,
    registeredAt: registeredAt.toISOString(),
    lastPush: lastPush
      ? {
          at: lastPush.at.toISOString(),
          status: lastPush.status,
          ...(lastPush.reason !== undefined && { reason: lastPush.reason }),
          version: lastPush.tag.toISOString(),
        }
      : null,
    lastListAt: iso(lastListedAt),
    lastFetch:
      lastFetchedAt && fetchedTag
        ? {
            at: lastFetchedAt.toISOString(),
            version: fetchedTag.toISOString(),
            isNewest: fetchedTag >= newest,
            latencyMs: Math.max(lastFetchedAt.getTime() - fetchedTag.getTime(), 0),
          }
        : null,
    nextLookAt: iso(recheckAt),
    stale: stale === true,
  };
}
