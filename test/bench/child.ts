// Starts helper processes of the bench, so that their work does not use the bench's own process. The bench asks them by
// messages.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ProcessList } from './processList.js';

export interface Child {
  pid: number;
  /** Sends a question and resolves with the answer; one question at a time. */
  ask: (question: unknown) => Promise<unknown>;
  stop: () => Promise<void>;
}

/** Runs `file` from this folder and resolves with its first message. */
export async function startChild(
  processes: ProcessList,
  file: string,
  args: readonly string[] = [],
): Promise<{ child: Child; ready: unknown }> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const running = processes.add(fork(path, [...args], { execArgv: ['--import', 'tsx'], detached: true }));
  // One permanent listener, however many questions are asked.
  let refuse: (error: Error) => void = () => {};
  running.once('exit', (code, signal) => refuse(new Error(`A helper of the bench ended with ${code ?? signal}.`)));
  const next = () =>
    new Promise<unknown>((resolve, reject) => {
      refuse = reject;
      running.once('message', resolve);
    });
  const ready = await next();
  return {
    ready,
    child: {
      pid: running.pid ?? 0,
      async ask(question) {
        const answer = next();
        running.send(question as object);
        return answer;
      },
      async stop() {
        if (running.exitCode !== null || running.signalCode !== null) return;
        const ended = once(running, 'exit');
        running.kill('SIGTERM');
        await ended;
      },
    },
  };
}
