// Runs the start command from its first line to its exit code. Every process that it started is stopped in order before
// it ends, also after an error.
import { join, relative } from 'node:path';
import { type BringUpDeps, type BroughtUp, bringUp, pidsOf, type StackParts } from './bringUp.js';
import { ExpectedFailure } from './expectedFailure.js';
import { lockStackDir } from './folderLock.js';
import type { Lock, NamedProcess } from './lock.js';
import { readSettings } from './settings.js';
import { removeStackFile, type StackFile, writeStackFile } from './stackFile.js';
import { onStopRequest } from './stopRequests.js';
import { createSupervisor, type Supervisor } from './supervisor.js';
import { isSystemError } from './systemError.js';
import { createTerminal, type Output, type Terminal } from './terminal.js';
import { printWelcome } from './welcome.js';

const stopOrder = ['cafe', 'api', 'worker', 'temporal', 'mongodb'];

export interface RunInput {
  env: NodeJS.ProcessEnv;
  out: Output;
  parts: StackParts;
  isEmpty: boolean;
}

/** Resolves with the exit code when all processes have ended. */
export async function runStack({ env, out, parts, isEmpty }: RunInput): Promise<number> {
  const since = Date.now();
  const terminal = createTerminal(out);
  const stop = new AbortController();
  const requested = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  let session: Session | undefined;
  let failure: unknown;
  onStopRequest(
    () => {
      terminal.giveUp();
      stop.abort();
    },
    () => {
      session?.force();
      process.exit(1);
    },
  );

  try {
    const settings = readSettings(env);
    terminal.heading(`Loyalty Pass Service, its data in ${shown(settings.stackDir)}`);
    session = await openSession({ settings, terminal, isEmpty }).catch((error: unknown) => {
      throw isUnwritable(error) ? new ExpectedFailure(unwritable(settings.stackDir, error)) : error;
    });
    // A stop does not wait until the start is complete: closing the session ends the processes that are starting.
    const running = await Promise.race([session.bringUp(parts, stop.signal), requested]);
    const { MAIL_FOLDER: mailDir } = settings.env;
    if (running)
      printWelcome(terminal, {
        ...running,
        logDir: shown(session.logDir),
        mailDir: mailDir && shown(mailDir),
        tookMs: Date.now() - since,
      });
    await requested;
  } catch (error) {
    if (!stop.signal.aborted) failure = error;
  }
  await session?.close();
  if (failure === undefined) return 0;
  terminal.line(failure instanceof ExpectedFailure ? `\n${failure.message}` : `\n${describe(failure)}`);
  return failure instanceof ExpectedFailure ? failure.exitCode : 1;
}

interface Session {
  logDir: string;
  bringUp(parts: StackParts, signal: AbortSignal): Promise<BroughtUp>;
  close(): Promise<void>;
  force(): void;
}

interface OpenSession extends Pick<BringUpDeps, 'settings' | 'isEmpty'> {
  terminal: Terminal;
}

async function openSession({ settings, terminal, isEmpty }: OpenSession): Promise<Session> {
  const { stackDir } = settings;
  const logDir = join(stackDir, 'logs');
  const lock = await lockStackDir(stackDir, terminal);
  let living: NamedProcess[] = [];
  let stack: StackFile | undefined;
  const supervisor = createSupervisor({
    logDir,
    terminal,
    onChange(now) {
      living = now;
      try {
        lock.record(living);
        if (stack !== undefined) writeStackFile(stackDir, { ...stack, pids: pidsOf(living) });
      } catch (error) {
        // The processes continue; the lock file lacks the newest ones until the next write.
        if (!isUnwritable(error)) throw error;
        terminal.warn(unwritable(stackDir, error));
      }
    },
  });
  return {
    logDir,
    async bringUp(parts, signal) {
      const running = await bringUp({ settings, isEmpty, supervisor, terminal, signal, parts, living: () => living });
      stack = running.stack;
      return running;
    },
    async close() {
      if (living.length > 0) await stopAll(supervisor, terminal);
      leave(stackDir, lock);
    },
    force() {
      supervisor.killAll();
      leave(stackDir, lock);
    },
  };
}

async function stopAll(supervisor: Supervisor, terminal: Terminal): Promise<void> {
  terminal.line();
  await terminal.step('stop', async (task) => {
    task.say('ending everything in order');
    await supervisor.stopAll(stopOrder);
    return { result: undefined, said: 'everything has ended, in order; the data stays' };
  });
}

function leave(stackDir: string, lock: Lock): void {
  removeStackFile(stackDir);
  lock.release();
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

const isUnwritable = (error: unknown): error is Error =>
  isSystemError(error, 'EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT', 'EIO');

function unwritable(stackDir: string, { message }: Error): string {
  return `${shown(stackDir)} cannot be written (${message}). Make room, or take another folder with STACK_DIR.`;
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
