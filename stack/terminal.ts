// Prints the progress of a start: one line for each finished step and, on a terminal, an animated line for each running
// step. When the output is not a terminal, long steps print a plain line from time to time instead. A closed terminal
// does not stop the stack.
import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

export interface Task {
  /** Replaces the text of the running step. */
  say(doing: string): void;
}

export interface Terminal {
  /**
   * Runs a step and prints the text that it returns with its duration. When the step throws, its line is marked as
   * failed and the error is rethrown.
   */
  step<T>(title: string, work: (task: Task) => Promise<{ result: T; said: string }>): Promise<T>;
  /** From now on steps that throw are not marked as failed, because the stop made them throw. */
  giveUp(): void;
  heading(text: string): void;
  line(text?: string): void;
  warn(text: string): void;
}

const titleWidth = 10;
const quietMs = 10_000;

/** `isTTY` is true for a terminal. */
export type Output = Writable & { isTTY?: boolean; columns?: number };

export function createTerminal(out: Output): Terminal {
  const live = out.isTTY === true;
  const coloured = live && !process.env.NO_COLOR;
  const working = new Map<string, { doing: string; since: number }>();
  const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
  let frame = 0;
  let drawn = 0;
  let givenUp = false;
  let timer: NodeJS.Timeout | undefined;
  out.on('error', () => undefined);

  const paint = (style: Parameters<typeof styleText>[0], text: string) => (coloured ? styleText(style, text) : text);

  const erase = () => {
    if (drawn === 0) return '';
    const up = drawn > 1 ? `\u001b[${drawn - 1}A` : '';
    drawn = 0;
    return `\r${up}\u001b[J`;
  };

  const drawStatus = () => {
    if (!live) return;
    frame = (frame + 1) % frames.length;
    // A line is cut to the terminal's width, because a wrapped line could not be erased.
    const width = (out.columns || 80) - 1;
    const lines = [...working].map(([title, { doing, since }]) =>
      `  ${frames[frame]} ${title.padEnd(titleWidth)} ${doing}  ${seconds(Date.now() - since)}`.slice(0, width),
    );
    out.write(`${erase()}${lines.join('\n')}`);
    drawn = lines.length;
  };

  const line = (text = '') => {
    out.write(`${erase()}${text}\n`);
    drawStatus();
  };

  const begin = (title: string) => {
    working.set(title, { doing: 'starting', since: Date.now() });
    if (live) timer ??= setInterval(drawStatus, 100);
  };

  const end = (title: string) => {
    working.delete(title);
    if (working.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    giveUp: () => {
      givenUp = true;
    },
    heading: (text) => line(`\n  ${paint('bold', text)}\n`),
    line,
    warn: (text) => line(`  ${paint('yellow', '!')} ${text}`),
    async step(title, work) {
      const since = Date.now();
      let lastSaid = since;
      let lastKind = '';
      begin(title);
      const say = (doing: string) => {
        working.set(title, { doing, since });
        // A text that differs from the last one only in its numbers is printed at most once in `quietMs`.
        const kind = doing.replace(/\d+/g, '#');
        if (live || (kind === lastKind && Date.now() - lastSaid < quietMs)) return;
        lastKind = kind;
        lastSaid = Date.now();
        line(`  … ${title.padEnd(titleWidth)} ${doing}`);
      };
      try {
        const { result, said } = await work({ say });
        end(title);
        const took = paint('dim', seconds(Date.now() - since));
        line(`  ${paint('green', '✓')} ${title.padEnd(titleWidth)} ${said}  ${took}`);
        return result;
      } catch (error) {
        end(title);
        if (!givenUp) line(`  ${paint('red', '✗')} ${title}`);
        throw error;
      }
    },
  };
}

function seconds(ms: number): string {
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
}
