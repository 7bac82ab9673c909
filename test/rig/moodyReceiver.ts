// A receiver that can be killed and started again on its port: a process of its own, whose journal outlives it. What came is
// in the journal before it is answered, and that it was answered as soon as the answer is out; so whatever the journal
// says was answered, was.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';

/** What it does with whatever comes, until it is told otherwise. `late` takes the event and answers when nobody waits. */
export type Mood = 'well' | 'slow' | 'late' | 'errors' | 'busy' | 'moved' | 'resets' | 'hangs' | 'mixed';

export interface Came {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** It kept the event, whether or not the sender learned of it. */
  taken: boolean;
  /** Undefined where it died or fell silent before. */
  answered?: number;
}

export type JournalLine =
  | { seen: number; path: string; headers: IncomingHttpHeaders; body: string; taken: boolean }
  | { answered: number; seen: number };

export interface MoodyReceiver {
  origin: string;
  be: (mood: Mood) => void;
  /** With SIGKILL: no goodbye to anyone. */
  kill: () => Promise<void>;
  /** On the same port, in the mood it had. */
  restart: () => Promise<void>;
  /** Of all its lives, in the order in which it came. */
  journal: () => Promise<Came[]>;
}

export async function startMoodyReceiver(journalPath: string): Promise<MoodyReceiver> {
  let mood: Mood = 'well';
  let port = 0;
  let life = 0;
  let running: ChildProcess;

  const start = async (): Promise<void> => {
    const path = fileURLToPath(new URL('moodyReceiverProcess.ts', import.meta.url));
    running = fork(path, [String(port), journalPath, String(life)], { execArgv: ['--import', 'tsx'] });
    life += 1;
    const [listening] = await once(running, 'message');
    port = Number(listening);
    running.send(mood);
  };
  await start();

  return {
    origin: `http://127.0.0.1:${port}`,
    be(next) {
      mood = next;
      if (running.connected) running.send(mood);
    },
    async kill() {
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      await ended;
    },
    restart: start,
    async journal() {
      const lines = (await readFile(journalPath, 'utf8')).trimEnd().split('\n');
      const came = new Map<number, Came>();
      for (const text of lines) {
        const line = JSON.parse(text) as JournalLine;
        const before = came.get(line.seen);
        if ('answered' in line && before) before.answered = line.answered;
        if ('body' in line) {
          const { path, headers, taken } = line;
          came.set(line.seen, { path, headers, taken, body: Buffer.from(line.body, 'base64') });
        }
      }
      return [...came.values()];
    },
  };
}
