// A supervisor with one child that runs for 300 s, for tests that kill the supervisor. Prints the child's pid.

import { createSupervisor } from '../../../stack/supervisor.js';
import { createTerminal } from '../../../stack/terminal.js';

const [logDir] = process.argv.slice(2);
if (logDir === undefined) throw new Error('Give a folder for the logs.');

const supervisor = createSupervisor({
  logDir,
  terminal: createTerminal(process.stderr),
  onChange: ([child]) => console.log(child?.pid),
});
await supervisor.start({
  name: 'sleep',
  title: 'sleep',
  command: 'sleep',
  args: ['300'],
  env: process.env,
  ipc: false,
  ready: async () => undefined,
  readyWithinMs: 1_000,
  graceMs: 1_000,
});
setInterval(() => undefined, 1_000);
