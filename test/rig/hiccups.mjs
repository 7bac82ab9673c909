// Makes every process of a test run stand still where it matters most, right after it wrote to a socket or began to connect,
// as a shared machine does now and then: limits run out, answers come late, and what took turns by luck does not.
//
//   NODE_OPTIONS="--import $PWD/test/rig/hiccups.mjs" npx vitest run --project engines
import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

/** In milliseconds: each lasts half to one and a half times `forMs`, and none is nearer to the last than `everyMs`. */
const { HICCUP_MS: forMs = 350, HICCUP_EVERY_MS: everyMs = 250 } = process.env;
const share = 0.3;
// Dies in the middle of its answers, by design: standing there, it could not note that it gave them.
const spared = 'moodyReceiverProcess.ts';

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
