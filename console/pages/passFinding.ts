// What the pass doctor found, as the one thing that people behind a counter should know; its sentences are in English.
import type { texts } from '../texts.js';
import type { Report } from './memberDetail.js';

type Device = Report['apple']['devices'][number];
type PassFinding = keyof typeof texts.member.passFindings;

/** Most phones take seconds; the doctor waits as long. */
const graceMs = 60_000;

function aboutPhone({ lastPush, lastFetch, stale }: Device, now: number): PassFinding | undefined {
  if (lastFetch?.isNewest) return undefined;
  if (stale) return 'asleep';
  if (lastPush === null) return undefined;
  if (lastPush.status !== 200) return 'notReached';
  return now - Date.parse(lastPush.at) < graceMs ? undefined : 'offline';
}

function aboutService({ build, certificates, devices, webServiceUrl }: Report['apple']): PassFinding | undefined {
  if (build?.ok === false) return 'notBuilt';
  if (certificates && certificates.warnings.length > 0) return 'certificate';
  return build && devices.length === 0 && !webServiceUrl.startsWith('https:') ? 'notReachable' : undefined;
}

function aboutGoogle({ mode, lastPatch, saveUrl }: Report['google']): PassFinding | undefined {
  if (mode === 'stub') return undefined;
  if (lastPatch?.outcome === 'failure') return 'googleRefused';
  return saveUrl === undefined ? 'googleLater' : undefined;
}

interface About {
  now: number;
  /** Whether the program updates its cards. */
  pushes: boolean;
  /** Whether the card may be used. */
  isActive: boolean;
}

function aboutModes({ apple, google }: Pick<Report, 'apple' | 'google'>, about: About): PassFinding | undefined {
  if (!about.pushes) return 'updatesOff';
  const stubs = [apple.mode, google.mode].filter((mode) => mode === 'stub').length;
  if (stubs === 2) return 'noWallets';
  if (apple.devices.length === 0 && !google.saved) return about.isActive ? 'noPhone' : undefined;
  return stubs === 1 ? 'oneWallet' : undefined;
}

/** The most urgent of them; undefined when there is none. */
export function mainFinding(
  report: Pick<Report, 'apple' | 'google' | 'findings'>,
  about: About,
): PassFinding | undefined {
  const { apple, google, findings } = report;
  const [phone] = apple.devices.flatMap((device) => aboutPhone(device, about.now) ?? []);
  return (
    aboutService(apple) ??
    phone ??
    aboutGoogle(google) ??
    (apple.logs.length > 0 ? 'complaints' : aboutModes(report, about)) ??
    (findings.length > 0 ? 'other' : undefined)
  );
}
