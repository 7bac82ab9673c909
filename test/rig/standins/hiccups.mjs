// Pauses every process of a test run for a moment right after it wrote to a socket or began to connect, as happens on a
// busy shared machine. The tests then show which limits are too tight and which code depends on timing.
// NODE_OPTIONS="--import $PWD/test/rig/standins/hiccups.mjs" npx vitest run --project engines
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

/** In milliseconds: each hiccup lasts 0.5 to 1.5 times `forMs`; two hiccups are more than `everyMs` apart. */
const { HICCUP_MS: forMs = 350, HICCUP_EVERY_MS: everyMs = 250 } = process.env;
const share = 0.3;
// Excluded, because tests kill this process: a hiccup between an answer and its journal line would lose the line.
const spared = 'unreliableReceiverProcess.ts';

if (isMainThread && !process.argv[1]?.endsWith(spared)) {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let over = performance.now() + 3_000;
  for (const name of ['connect', '_writeGeneric']) {
    const method = Socket.prototype[name];
    Socket.prototype[name] = function (...given) {
      const made = method.apply(this, given);
      if (performance.now() - over > Number(everyMs) && Math.random() < share) {
        Atomics.wait(cell, 0, 0, Number(forMs) * (0.5 + Math.random()));
        over = performance.now();
      }
      return made;
    };
  }
}
