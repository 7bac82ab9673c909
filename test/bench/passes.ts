// Signed Apple passes on one core: ours against passkit-generator's own export of the same bundle in the same run, and
// against the RSA signature alone, which no signer can beat.
import { sign } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { PKPass } from 'passkit-generator';
import { loadAppleCredentials } from '../../activities/apple/credentials.js';
import type { PassFace } from '../../activities/apple/passFace.js';
import { buildPass, compileTemplate } from '../../activities/apple/passPackage.js';
import type { TemplatedProgram } from '../../activities/apple/templateCheck.js';
import { makeAppleCertificates } from '../rig/appleCertificates.js';
import { noisePng } from '../rig/noisePng.js';
import { openPkpass, unzip } from '../rig/pkpass.js';
import { percentile, type Row, round } from './row.js';

const MEASURE_MS = 3000;
const IMAGE_BYTES = 50_000;

/**
 * How often `work` runs in a second of processor time, the engine's own threads included, after a warm-up: what one
 * core does, whatever else the machine is busy with.
 */
function rate(work: (turn: number) => void, ms: number): number {
  const repeat = (forMs: number) => {
    let turns = 0;
    for (const start = performance.now(); performance.now() - start < forMs; turns += 1) work(turns);
    return turns;
  };
  repeat(ms / 6);
  const before = process.cpuUsage();
  const turns = repeat(ms);
  const { user, system } = process.cpuUsage(before);
  return turns / ((user + system) / 1e6);
}

/**
 * How long runs of `work` keep the event loop, sorted. Of several rounds the quietest counts: whatever else runs on the
 * machine also stops the clock.
 */
function blocks(work: (turn: number) => void, rounds: number, runs: number): number[] {
  const measured = Array.from({ length: rounds }, () => {
    const times = Array.from({ length: runs }, (_, turn) => {
      const start = performance.now();
      work(turn);
      return performance.now() - start;
    });
    return times.toSorted((a, b) => a - b);
  });
  return measured.toSorted((a, b) => percentile(a, 0.99) - percentile(b, 0.99))[0] ?? [];
}

export async function benchPasses(): Promise<Row[]> {
  const certificates = await makeAppleCertificates();
  const credentials = loadAppleCredentials(certificates.settings, new Date(Date.now() + 1000));
  if (credentials.mode === 'stub') throw new Error(credentials.reason);
  const program: TemplatedProgram = {
    name: 'Bench',
    style: 'points',
    goal: 100,
    passTemplate: {
      images: {
        logo: { '2x': noisePng(640, 200, IMAGE_BYTES).toString('base64') },
        strip: {
          '2x': noisePng(750, 288, IMAGE_BYTES).toString('base64'),
          '3x': noisePng(1125, 432, IMAGE_BYTES).toString('base64'),
        },
      },
    },
  };
  const face = (turn: number): PassFace => ({
    serialNumber: `00000000-0000-4000-8000-${String(turn).padStart(12, '0')}`,
    authenticationToken: `an-authentication-token-${turn}`,
    memberCode: String(turn).padStart(10, '0'),
    displayName: 'Ada Lovelace',
    label: 'POINTS',
    balance: turn % 101,
    goal: 100,
    status: 'active',
    changeMessage: 'You earned a point',
    messageSequence: turn,
    webServiceURL: 'https://passes.example.com/wallet/apple',
    updatedAt: new Date(),
  });
  const compiled = compileTemplate(credentials, program);
  const ours = (turn: number) => buildPass(credentials, compiled, face(turn));
  const files = unzip(ours(0));
  await openPkpass(ours(1), certificates.wwdrCert);

  const { signerCert, signerKey, wwdrCert } = certificates;
  const { 'manifest.json': _manifest, signature: _signature, 'pass.json': json, ...images } = Object.fromEntries(files);
  const passJson: object = JSON.parse(json?.toString() ?? '');
  const theirs = (turn: number) => {
    const { serialNumber, authenticationToken } = face(turn);
    const content = Buffer.from(JSON.stringify({ ...passJson, serialNumber, authenticationToken }));
    return new PKPass({ ...images, 'pass.json': content }, { signerCert, signerKey, wwdr: wwdrCert }).getAsBuffer();
  };
  await openPkpass(theirs(1), certificates.wwdrCert);

  const attributes = Buffer.alloc(93);
  const oursRate = rate(ours, MEASURE_MS);
  const theirsRate = rate(theirs, MEASURE_MS);
  const rsaRate = rate(() => sign('sha1', attributes, credentials.signerKey), MEASURE_MS);
  const oursBlocks = blocks(ours, 10, 300);
  const theirsBlocks = blocks(theirs, 2, 20);

  // A goal and balances of its own each time, so that every pass of a round draws a strip that is not yet kept.
  const stampCards = Array.from({ length: 10 }, () =>
    compileTemplate(credentials, { name: 'Bench', style: 'stamps', goal: 10 }),
  );
  const stripBlocks = stampCards.map((card) =>
    blocks((turn) => void buildPass(credentials, card, { ...face(turn), balance: turn + 1 }), 1, 10),
  );
  const worstStrip = Math.min(...stripBlocks.map((times) => percentile(times, 1)));

  const bundle = `three ${IMAGE_BYTES / 1000} kB images`;
  const row = (
    scenario: string,
    mine: number,
    other: number | null,
    ratio: number | null,
    unit: string,
    goal: string,
    reached?: boolean,
  ): Row => ({
    scenario,
    ours: round(mine),
    yardstick: other === null ? null : round(other),
    ratio: ratio === null ? null : round(ratio),
    unit,
    goal,
    ...(reached !== undefined && { reached }),
  });
  const perSecond = 'passes/s on one core';
  const [oursTypical, theirsTypical] = [percentile(oursBlocks, 0.5), percentile(theirsBlocks, 0.5)];
  const [oursWorst, theirsWorst] = [percentile(oursBlocks, 0.99), percentile(theirsBlocks, 0.99)];
  return [
    row(
      `signed passes, ${bundle}; passkit-generator`,
      oursRate,
      theirsRate,
      oursRate / theirsRate,
      perSecond,
      '>= 25',
      oursRate / theirsRate >= 25,
    ),
    row(
      `signed passes, ${bundle}; RSA-2048 signing alone`,
      oursRate,
      rsaRate,
      oursRate / rsaRate,
      perSecond,
      '>= 0.4',
      oursRate / rsaRate >= 0.4,
    ),
    row(
      `block by one pass, median, ${bundle}; passkit-generator`,
      oursTypical,
      theirsTypical,
      theirsTypical / oursTypical,
      'ms',
      '< 2',
      oursTypical < 2,
    ),
    row(
      `block by one pass, p99, ${bundle}; passkit-generator`,
      oursWorst,
      theirsWorst,
      theirsWorst / oursWorst,
      'ms',
      '< 2',
      oursWorst < 2,
    ),
    row(
      'block by a stamp pass that first draws its strip, worst of 10',
      worstStrip,
      null,
      null,
      'ms',
      '< 2',
      worstStrip < 2,
    ),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await benchPasses());
