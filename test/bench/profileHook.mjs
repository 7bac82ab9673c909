// Loaded into the API and the worker by `npm run bench -- --profile`: when a thread ends, it writes its CPU profile as
// a .cpuprofile file, for Chrome's developer tools.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { basename, dirname, join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';

const folder = process.env.BENCH_PROFILE_DIR;
const script = process.argv[1] ?? '';

if (folder && /^main\.[jt]s$/.test(basename(script))) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 500 });
  session.post('Profiler.start');
  const name = `${basename(dirname(script))}-${process.pid}${isMainThread ? '' : `-thread${threadId}`}.cpuprofile`;
  process.on('exit', () => {
    // The callback runs before `post` returns.
    session.post('Profiler.stop', (_error, answer) => {
      if (answer) writeFileSync(join(folder, name), JSON.stringify(answer.profile));
    });
  });
}
