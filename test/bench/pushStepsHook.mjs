// Loaded into the processes of the stack by the scenario `push-steps`: writes when each step of a push ended.
import { appendFileSync } from 'node:fs';
import { register } from 'node:module';

register('./pushStepsLoader.mjs', import.meta.url);
globalThis.stepEnded = (name) => {
  const at = performance.timeOrigin + performance.now();
  appendFileSync(process.env.BENCH_STEPS_FILE ?? '', `${JSON.stringify({ name, at })}\n`);
};
