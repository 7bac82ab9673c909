// Moves the wall clock of a service by what a file says, while it runs. Its timers go on, as they do when a real one is moved.
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_FILE ?? '';
const lookEveryMs = 50;
const real = Date;
let aheadMs = 0;

function look(): void {
  try {
    aheadMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // Nobody has moved it yet.
  }
}
look();
setInterval(look, lookEveryMs).unref();

const now = (): number => real.now() + aheadMs;
globalThis.Date = new Proxy(real, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
