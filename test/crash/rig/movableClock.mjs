// Shifts the wall clock of a running service by the offset in a file. Timers keep their pace, as when a real clock is
// set.
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_FILE ?? '';
const lookEveryMs = 50;
const real = Date;
let aheadMs = 0;

function look() {
  try {
    aheadMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // The file does not exist until the clock is moved.
  }
}
look();
setInterval(look, lookEveryMs).unref();

const now = () => real.now() + aheadMs;
globalThis.Date = new Proxy(real, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
