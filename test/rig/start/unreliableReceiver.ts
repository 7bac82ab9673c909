// A webhook receiver in its own process that a test can kill and restart on the same port. Its journal is a file, so
// the journal survives a kill. A request is written to the journal with the answer that it is to get, before it is
// answered, and again after the answer was sent: a process that dies in between may have answered or not.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';

/**
 * How the receiver treats requests until the next call of `setMode`. `late` keeps the event and answers after the
 * sender's timeout.
 */
export type ReceiverMode = 'well' | 'slow' | 'late' | 'errors' | 'busy' | 'moved' | 'resets' | 'hangs' | 'mixed';

export interface JournaledRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The receiver kept the event, whether or not the sender got an answer. */
  taken: boolean;
  /** The status that it was to be answered with; null when it was to get no answer. */
  planned: number | null;
  /** The status, when it was certainly sent. */
  answered?: number;
}

export type JournalLine =
  | { seen: number; path: string; headers: IncomingHttpHeaders; body: string; taken: boolean; planned: number | null }
  | { answered: number; seen: number };

export interface UnreliableReceiver {
  origin: string;
  setMode: (mode: ReceiverMode) => void;
  /** Kills the process with SIGKILL. */
  kill: () => Promise<void>;
  /** Starts the process again on the same port and in the same mode. */
  restart: () => Promise<void>;
  /** The requests of all lives of the process, in the order of arrival. */
  journal: () => Promise<JournaledRequest[]>;
}

export async function startUnreliableReceiver(journalPath: string): Promise<UnreliableReceiver> {
  let mode: ReceiverMode = 'well';
  let port = 0;
  let life = 0;
  let running: ChildProcess;

  const start = async (): Promise<void> => {
    const path = fileURLToPath(new URL('unreliableReceiverProcess.ts', import.meta.url));
    running = fork(path, [String(port), journalPath, String(life)], { execArgv: ['--import', 'tsx'] });
    life += 1;
    const [listening] = await once(running, 'message');
    port = Number(listening);
    running.send(mode);
  };
  await start();

  return {
    origin: `http://127.0.0.1:${port}`,
    setMode(next) {
      mode = next;
      if (running.connected) running.send(mode);
    },
    async kill() {
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      await ended;
    },
    restart: start,
    async journal() {
      const lines = (await readFile(journalPath, 'utf8')).trimEnd().split('\n');
      const requests = new Map<number, JournaledRequest>();
      for (const text of lines) {
        const line = JSON.parse(text) as JournalLine;
        const before = requests.get(line.seen);
        if ('answered' in line && before) before.answered = line.answered;
        if ('body' in line) {
          const { path, headers, taken, planned } = line;
          requests.set(line.seen, { path, headers, taken, planned, body: Buffer.from(line.body, 'base64') });
        }
      }
      return [...requests.values()];
    },
  };
}
