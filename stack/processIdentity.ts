// A pid alone says nothing after a crash: by then the number may belong to another process. Whoever ends a process that
// was recorded earlier must see the same start mark first.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  /** When the kernel says that the process began, in a form that is only compared. */
  startMark: string;
}

/** The start mark of a living process; undefined when there is none, or only its zombie is left. */
export function startMarkOf(pid: number): string | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

export function identityOf(pid: number): ProcessIdentity | undefined {
  const startMark = startMarkOf(pid);
  return startMark === undefined ? undefined : { pid, startMark };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return startMarkOf(identity.pid) === identity.startMark;
}

function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the command in parentheses and may hold anything, so counting begins behind its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}
