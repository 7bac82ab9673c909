// Identifies a process by its pid and its start time. After a crash, a recorded pid may belong to another process, so
// callers compare the start time before they signal a process.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ProcessIdentity {
  pid: number;
  /** The start time of the process as the kernel reports it; only to be compared. */
  startMark: string;
}

/** The start mark of a living process; undefined when no process has this pid, or only a zombie. */
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
    // The second field is the command in parentheses and may contain any character, so fields are counted from the last
    // ')'.
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
