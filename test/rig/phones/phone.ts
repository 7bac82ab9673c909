// `npm run phone`: virtual phones for integrators, and the stand-ins of Apple and Google that the phones need.
import { relative, resolve } from 'node:path';
import { addPass } from './add.js';
import { savePass } from './save.js';
import { envFile, startStandIns } from './standIns.js';

const help = `Usage:
  npm run phone -- wallets        runs a local APNs and a local Google with test certificates, and writes the
                                  environment that points a stack at them
  npm run phone -- add PASS_URL   a virtual iPhone adds the pass and shows each push, fetch and view;
                                  where passes are stub it follows the web card;
                                  with --older as iPhones before iOS 27 do
  npm run phone -- save PASS_URL  a virtual Google wallet saves the pass and shows each change

PASS_URL is a member's apple.passUrl. State is kept in STACK_DIR (.stack).

Example: npm run phone -- add http://127.0.0.1:3000/passes/...`;

const say = (line: string) => console.log(line);
const stackDir = resolve(process.env.STACK_DIR || '.stack');
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

async function wallets(): Promise<void> {
  const standIns = await startStandIns({ stackDir, say });
  const file = relative(process.cwd(), envFile(stackDir));
  say(`A local APNs and a local Google are up. In another terminal start a stack that uses them:

  set -a; . ./${file}; set +a; npm start

Pushes are shown here; Ctrl-C ends.
`);
  await new Promise<void>((done) => stop.signal.addEventListener('abort', () => done()));
  await standIns.close();
}

async function main(given: string[]): Promise<number> {
  const [verb, passUrl = '', ...surplus] = given.filter((word) => word !== '--older');
  const system = given.includes('--older') ? 'older' : 'newer';
  const at = { passUrl, stackDir, say, signal: stop.signal };
  const isAddress = URL.canParse(passUrl) && surplus.length === 0;
  if (verb === 'wallets' && passUrl === '') await wallets();
  else if (verb === 'add' && isAddress) await addPass({ ...at, system });
  else if (verb === 'save' && isAddress) await savePass(at);
  else {
    say(help);
    return verb === '--help' || verb === '-h' ? 0 : 1;
  }
  return 0;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (stop.signal.aborted) process.exit(0);
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
