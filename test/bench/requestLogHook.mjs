// Loaded into the processes of the stack by the scenario `request-log`: at each SIGUSR2 the API stops, or continues, to
// keep what was asked and answered.
import { register } from 'node:module';

register('./requestLogLoader.mjs', import.meta.url);
process.on('SIGUSR2', () => {
  globalThis.isRequestLogOff = !globalThis.isRequestLogOff;
});
