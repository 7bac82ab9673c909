// The one finding of the pass doctor that the page of a member says in the language of the screen.
import { describe, expect, it } from 'vitest';
import type { PassReport } from '../../../schemas/wallets/passReport.schema.js';

// The console is compiled by itself, so its modules have no types here.
const folder = '../../../console';
type Shown = Pick<PassReport, 'apple' | 'google' | 'findings'>;
const { mainFinding } = (await import(`${folder}/pages/passFinding.js`)) as {
  mainFinding: (report: Shown, about: { now: number; pushes: boolean; isActive: boolean }) => string | undefined;
};
const { catalogues } = await import(`${folder}/texts/catalogues.js`);

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const about = { now: Date.parse(at(30)), pushes: true, isActive: true };

type Device = PassReport['apple']['devices'][number];
const device: Device = {
  ...{ id: 'one', registeredAt: at(0), lastListAt: at(10), nextLookAt: null, stale: false },
  lastPush: { at: at(10), status: 200, version: at(10) },
  lastFetch: { at: at(10), version: at(10), isNewest: true, latencyMs: 9 },
};
const behind: Device = { ...device, lastFetch: null };

interface Changed {
  apple?: Partial<PassReport['apple']>;
  google?: Partial<PassReport['google']>;
  findings?: string[];
}

const reportWith = ({ apple, google, findings = [] }: Changed): Shown => ({
  apple: {
    ...{ mode: 'real', certificates: null, issuedAt: at(0), build: { ok: true }, devices: [device], logs: [] },
    webServiceUrl: 'https://example.com/wallet/apple',
    ...apple,
  },
  google: {
    ...{ mode: 'real', objectId: 'one', issuedAt: at(0), saved: true, saveUrl: 'https://example.com', lastPatch: null },
    ...google,
  },
  findings,
});

const certificates = {
  ...{ passTypeId: 'pass.example', teamId: 'TEAM', chain: [], wwdrGeneration: 'G4', expiresAt: at(0) },
  ...{ daysToExpiry: 3, pushesBy: 'token' as const },
};

const cases: [string, Changed][] = [
  ['notBuilt', { apple: { build: { ok: false, error: 'the logo is broken' }, devices: [{ ...behind, stale: true }] } }],
  ['certificate', { apple: { certificates: { ...certificates, warnings: ['It expires in 3 days.'] } } }],
  ['notReachable', { apple: { devices: [], webServiceUrl: 'http://127.0.0.1:3000/wallet/apple' } }],
  ['asleep', { apple: { devices: [device, { ...behind, stale: true }] } }],
  ['notReached', { apple: { devices: [{ ...behind, lastPush: { at: at(29), status: 410, version: at(29) } }] } }],
  ['offline', { apple: { devices: [behind] } }],
  ['googleRefused', { google: { lastPatch: { at: at(1), outcome: 'failure' } } }],
  ['complaints', { apple: { logs: [{ at: at(1), message: 'no' }] } }],
  ['noWallets', { apple: { mode: 'stub', build: null, devices: [] }, google: { mode: 'stub', saved: false } }],
  ['oneWallet', { google: { mode: 'stub', saved: false } }],
  ['noPhone', { apple: { devices: [] }, google: { saved: false } }],
  ['other', { findings: ['Something that no screen knows.'] }],
];

describe('the main finding about a card', () => {
  it.each(cases)('is %s', (finding, changed) => {
    expect(mainFinding(reportWith(changed), about)).toBe(finding);
  });

  it('is that Google has no card yet', () => {
    const { saveUrl, ...google } = reportWith({}).google;
    expect(saveUrl).toBeDefined();
    expect(mainFinding({ ...reportWith({}), google }, about)).toBe('googleLater');
  });

  it('is that cards are not updated, where the program says so', () => {
    const stub = reportWith({ apple: { mode: 'stub', build: null }, google: { mode: 'stub' } });
    expect(mainFinding(stub, { ...about, pushes: false })).toBe('updatesOff');
  });

  it('asks for no phone where the card may not be used', () => {
    const without = reportWith({ apple: { devices: [] }, google: { saved: false } });
    expect(mainFinding(without, { ...about, isActive: false })).toBeUndefined();
  });

  it('is none while all phones have the card, or just heard of the change', () => {
    expect(mainFinding(reportWith({}), about)).toBeUndefined();
    const pushed = { ...behind, lastPush: { at: at(30), status: 200, version: at(30) } };
    expect(mainFinding(reportWith({ apple: { devices: [pushed] } }), about)).toBeUndefined();
  });

  it.each(['en', 'de', 'fr', 'es', 'it'])('has a sentence in %s for each', async (language) => {
    const { member } = await catalogues[language]();
    const named = [...cases.map(([finding]) => finding), 'googleLater', 'updatesOff'];
    expect(Object.keys(member.passFindings).sort()).toEqual(named.sort());
  });
});
