// Ends the stack's processes after the supervisor was killed. Engines do not watch their parent, so a small shell
// process does: its standard input closes when the supervisor ends in any way, and the shell then ends the processes of
// the last list that it received.
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

export interface Reaper {
  /** Replaces the list of processes to end. */
  watch(pids: number[]): void;
  /** Empties the list and ends the reaper. */
  dismiss(): void;
}

export function startReaper(): Reaper {
  const shell = spawn('sh', ['-c', script, 'loyalty-pass-reaper'], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without the reaper, only the cleanup after a kill -9 is missing, so its failure does not stop the stack.
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  return {
    watch: (pids) => shell.stdin.write(`${pids.join(' ')}\n`),
    dismiss: () => shell.stdin.end('\n'),
  };
}
