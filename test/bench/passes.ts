// Signed Apple passes on one core: this service compared with passkit-generator on the same bundle in the same run, and
// with the RSA signature alone, which is a lower bound for every signer.
import { sign } from 'node:crypto';
import { PKPass } from 'passkit-generator';
import { loadAppleCredentials } from '../../activities/wallets/apple/credentials.rules.js';
import { buildPass, compileTemplate } from '../../activities/wallets/apple/passPackage.view.js';
import type { TemplatedProgram } from '../../activities/wallets/apple/templateCheck.rules.js';
import type { ApplePassView } from '../../schemas/wallets/apple/pass.view.js';
import { openPkpass, unzip } from '../rig/checks/pkpass.js';
import { makeAppleCertificates } from '../rig/standins/appleCertificates.js';
import { noisePng } from '../rig/standins/noisePng.js';
import { percentile, type Row, ratiosOf, round } from './row.js';

const IMAGE_BYTES = 50_000;

/**
 * Runs of `work` per second of processor time, including the threads of the JavaScript engine, after a warm-up: the
 * rate of one core, independent of other work on the machine.
 */
function rate(work: (turn: number) => void, ms: number): number {
  const repeat = (forMs: number) => {
    let runs = 0;
    for (const start = performance.now(); performance.now() - start < forMs; runs += 1) work(runs);
    return runs;
  };
  repeat(ms / 6);
  const before = process.cpuUsage();
  const runs = repeat(ms);
  const { user, system } = process.cpuUsage(before);
  return runs / ((user + system) / 1e6);
}

/**
 * How long runs of `work` block the event loop, sorted. The fastest of several rounds counts, because other work on the
 * machine also delays the measured runs.
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

export interface PassesSize {
  rounds: number;
  /** Duration of a round of each signer. */
  ms: number;
}

export async function benchPasses({ rounds, ms }: PassesSize): Promise<Row[]> {
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
  const view = (turn: number): ApplePassView => ({
    serialNumber: `00000000-0000-4000-8000-${String(turn).padStart(12, '0')}`,
    authenticationToken: `an-authentication-token-${turn}`,
    memberCode: String(turn).padStart(10, '0'),
    barcode: String(turn).padStart(10, '0'),
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
  const ours = (turn: number) => buildPass(credentials, compiled, view(turn));
  const files = unzip(ours(0));
  await openPkpass(ours(1), certificates.wwdrCert);

  const { signerCert, signerKey, wwdrCert } = certificates;
  const { 'manifest.json': _manifest, signature: _signature, 'pass.json': json, ...images } = Object.fromEntries(files);
  const passJson: object = JSON.parse(json?.toString() ?? '');
  const theirs = (turn: number) => {
    const { serialNumber, authenticationToken } = view(turn);
    const content = Buffer.from(JSON.stringify({ ...passJson, serialNumber, authenticationToken }));
    return new PKPass({ ...images, 'pass.json': content }, { signerCert, signerKey, wwdr: wwdrCert }).getAsBuffer();
  };
  await openPkpass(theirs(1), certificates.wwdrCert);

  const attributes = Buffer.alloc(93);
  const runs = Array.from({ length: rounds }, () => ({
    ours: rate(ours, ms),
    theirs: rate(theirs, ms),
    rsa: rate(() => sign('sha256', attributes, credentials.signerKey), ms),
  }));
  const best = (signer: 'ours' | 'theirs' | 'rsa') => Math.max(...runs.map((turn) => turn[signer]));
  const oursBlocks = blocks(ours, 10, 300);
  const theirsBlocks = blocks(theirs, 2, 20);

  // Each pass has its own goal and balances, so that every pass of a round draws a strip that is not cached.
  const stampCards = Array.from({ length: 10 }, () =>
    compileTemplate(credentials, { name: 'Bench', style: 'stamps', goal: 10 }),
  );
  const stripBlocks = stampCards.map((card) =>
    blocks((turn) => void buildPass(credentials, card, { ...view(turn), balance: turn + 1 }), 1, 10),
  );
  const worstStrip = Math.min(...stripBlocks.map((times) => percentile(times, 1)));

  const bundle = `three ${IMAGE_BYTES / 1000} kB images`;
  const rateRow = (name: string, other: 'theirs' | 'rsa', goal: number): Row => {
    const ratio = best('ours') / best(other);
    const ratios = ratiosOf(runs.map((turn) => turn.ours / turn[other]));
    return {
      scenario: `signed passes, ${bundle}; ${name}`,
      ours: round(best('ours')),
      yardstick: round(best(other)),
      ratio: round(ratio),
      ...(ratios && { ratios }),
      unit: 'passes/s on one core',
      goal: `>= ${goal}`,
      reached: ratio >= goal,
    };
  };
  const blockRow = (name: string, share: number): Row => {
    const [mine, other] = [percentile(oursBlocks, share), percentile(theirsBlocks, share)];
    return {
      scenario: `block by one pass, ${name}, ${bundle}; passkit-generator`,
      ours: round(mine),
      yardstick: round(other),
      ratio: round(other / mine),
      unit: 'ms',
      goal: '< 2',
      reached: mine < 2,
    };
  };
  return [
    rateRow('passkit-generator', 'theirs', 25),
    rateRow('RSA-2048 signing alone', 'rsa', 0.4),
    blockRow('median', 0.5),
    blockRow('p99', 0.99),
    {
      scenario: 'block by a stamp pass that first draws its strip, worst of 10',
      ours: round(worstStrip),
      yardstick: null,
      ratio: null,
      unit: 'ms',
      goal: '< 2',
      reached: worstStrip < 2,
    },
  ];
}
