// Passes on what a part prints, and keeps its last lines, since thousands of lines of other parts may follow a failure.
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const kept = 40;
const longest = 200;
/** A process that the part has left behind may hold its output open. */
const closeMs = 2_000;

export interface Ended {
  code: number | null;
  /** Each cut to 200 characters. */
  lastLines: string[];
}

/** Waits until the process has ended. `print` gets each of its lines, whole. */
export async function endOf(
  child: ChildProcessByStdio<null, Readable, Readable>,
  print: (line: string) => void = console.log,
): Promise<Ended> {
  let lastLines: string[] = [];
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on('line', (line) => {
      print(line);
      lastLines = [...lastLines.slice(1 - kept), line.slice(0, longest)];
    });
  const closed = once(child, 'close');
  const [code] = await once(child, 'exit');
  await Promise.race([closed, sleep(closeMs)]);
  child.stdout.destroy();
  child.stderr.destroy();
  return { code, lastLines };
}
