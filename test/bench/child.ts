// Helpers of a bench that must not cost its own process anything: each runs beside it and is asked by messages.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Child {
  pid: number;
  /** Sends a question and answers what comes back; one at a time. */
  ask: (question: unknown) => Promise<unknown>;
  stop: () => Promise<void>;
}

/** Runs `file`, a neighbour of this one, and answers its first message. */
export async function startChild(
  file: string,
  args: readonly string[] = [],
): Promise<{ child: Child; ready: unknown }> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const running = fork(path, [...args], { execArgv: ['--import', 'tsx'] });
  // One listener that stays, however often it is asked.
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
        const ended = once(running, 'exit');
        running.kill('SIGTERM');
        await ended;
      },
    },
  };
}
