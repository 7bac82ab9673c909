// The findings of the pass doctor, as sentences for operators: what is wrong, and the likeliest cause.

import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { DeviceRow } from '../../../schemas/wallets/wallets.rows.js';
import type { Examination } from './examination.schema.js';

/** How long a phone may take to fetch after a push before this is reported; most phones take seconds. */
const fetchGraceMs = 60_000;

export function findingsOf(examined: Omit<Examination, 'findings'>, now: Date): string[] {
  const { modes, credentials, build, devices, member, webServiceUrl, logs } = examined;
  const findings = (['apple', 'google'] as const).flatMap((platform) => {
    const { mode, reason } = modes[platform];
    return mode === 'stub' ? [`${platform}: nothing is pushed. ${reason}`] : [];
  });
  findings.push(...(credentials?.warnings ?? []));
  if (build && !build.ok) findings.push(`The newest version cannot be built: ${build.error}`);
  if (build && devices.length === 0 && new URL(webServiceUrl).protocol !== 'https:')
    findings.push(`Phones register over https only, and PUBLIC_URL is ${new URL(webServiceUrl).origin}.`);
  if (build?.ok && devices.length === 0)
    findings.push('No phone is registered: the pass was not added, or phones cannot reach the web service.');
  findings.push(...devices.flatMap((device) => aboutDevice(device, member, now)));
  if (logs.length > 0) findings.push(`Phones complained ${logs.length} times within 7 days; see logs.`);
  if (modes.google.mode === 'real' && member.pass.googleSaveUrl === undefined)
    findings.push('There is no object at Google: the wallet was in stub mode, or refused it. It is made by itself.');
  if (examined.lastPatch?.outcome === 'failure' && modes.google.mode === 'real')
    findings.push(`Google did not take the last change: ${examined.lastPatch.detail ?? 'no reason given'}.`);
  return findings;
}

function aboutDevice(device: DeviceRow, { pass }: Pick<MemberRow, 'pass'>, now: Date): string[] {
  const { _id, lastPush, lastListedAt, fetchedTag, stale } = device;
  if (fetchedTag && fetchedTag >= pass.tag) return [];
  const name = `Phone ${_id.slice(0, 8)}`;
  if (stale) {
    return [
      `${name} was pushed after 1 min, 15 min and 6 h and has not fetched: it is off, or its Automatic Updates are.`,
    ];
  }
  if (!lastPush) return [];
  if (lastPush.status !== 200) return [`${name}: APNs answered ${lastPush.status} ${lastPush.reason ?? ''}`.trim()];
  if (now.getTime() - lastPush.at.getTime() < fetchGraceMs) return [];
  if (!lastListedAt || lastListedAt < lastPush.at)
    return [`${name} was pushed and has not asked what changed: the push was dropped, or the phone is offline.`];
  return [`${name} asked what changed and has not fetched the newest version.`];
}
