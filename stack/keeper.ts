// Nothing outlives a supervisor that was killed. Engines cannot watch their parent, so a small shell does: its standard
// input ends with the supervisor, however that ends, and then it ends whatever is on its last list.

import { spawn } from 'node:child_process';

const script = `
pids=
while read -r line; do pids=$line; done
[ -z "$pids" ] && exit 0
kill -TERM $pids 2>/dev/null
for second in 1 2 3 4 5 6; do
  sleep 1
  left=
  for pid in $pids; do kill -0 "$pid" 2>/dev/null && left="$left $pid"; done
  [ -z "$left" ] && exit 0
done
kill -KILL $left 2>/dev/null
`;

export interface Keeper {
  /** Replaces the list. */
  keep(pids: number[]): void;
  /** Forgets all and ends. */
  dismiss(): void;
}

export function startKeeper(): Keeper {
  const shell = spawn('sh', ['-c', script, 'loyalty-pass-keeper'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without it everything works but the end after a kill -9, so its failure is no reason to stop.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  return {
    keep: (pids) => shell.stdin.write(`${pids.join(' ')}\n`),
    dismiss: () => shell.stdin.end('\n'),
  };
}
