// Loaded into the API and the worker by `npm run bench -- --profile`: each of their threads writes where its time went, for
// Chrome's developer tools or any other reader of .cpuprofile, when it ends.
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
    // Answers before it returns.
    session.post('Profiler.stop', (_error, answer) => {
      if (answer) writeFileSync(join(folder, name), JSON.stringify(answer.profile));
    });
  });
}
