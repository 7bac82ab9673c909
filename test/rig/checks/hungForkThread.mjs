// The thread of hungFork.ts. It counts its own ticks in which the main thread's event loop did not turn.
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { shared, beatMs, limitMs } = workerData;
const [beats, length] = [new Int32Array(shared, 0, 1), new Int32Array(shared, 4, 1)];
let seen = -1;
let still = 0;

setInterval(() => {
  const now = Atomics.load(beats, 0);
  still = now === seen ? still + 1 : 0;
  seen = now;
  if (still * beatMs < limitMs) return;
  const doing = Buffer.from(shared, 8, Atomics.load(length, 0)).toString();
  // console.log would go through the main thread.
  writeSync(2, `\nA fork stood still for ${limitMs / 1_000} s and was ended (pid ${process.pid}). It ran: ${doing}\n`);
  process.kill(process.pid, 'SIGKILL');
}, beatMs);
