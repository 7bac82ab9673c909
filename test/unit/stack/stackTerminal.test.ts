// The progress lines of `npm start`, on a terminal and without one.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createTerminal, type Output } from '../../../stack/terminal.js';

function anOutput(over: Pick<Output, 'isTTY' | 'columns'> = {}) {
  const stream: Output = Object.assign(new PassThrough(), over);
  return { stream, text: () => String(stream instanceof PassThrough ? (stream.read() ?? '') : '') };
}

const finished = async () => ({ result: 7, said: 'on port 1' });

test('a step returns its result and prints one line with its text and its duration', async () => {
  const { stream, text } = anOutput();
  expect(await createTerminal(stream).step('MongoDB', finished)).toBe(7);
  expect(text()).toMatch(/^ {2}✓ MongoDB {4}on port 1 {2}\d+\.\d s\n$/);
});

test('without a terminal a long step prints a text once, whatever its numbers', async () => {
  const { stream, text } = anOutput();
  await createTerminal(stream).step('Temporal', async ({ say }) => {
    for (let crates = 1; crates < 100; crates += 1) say(`building: ${crates} of 100`);
    say('starting');
    return await finished();
  });
  const lines = text().trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines.slice(0, 2)).toEqual(['  … Temporal   building: 1 of 100', '  … Temporal   starting']);
});

test('a step that throws is marked as failed, and the error is rethrown', async () => {
  const { stream, text } = anOutput();
  const failing = createTerminal(stream).step('API', () => Promise.reject(new Error('port taken')));
  await expect(failing).rejects.toThrow('port taken');
  expect(text()).toBe('  ✗ API\n');
});

test('on a terminal each running step has an animated line within the width, and none is left at the end', async () => {
  const { stream, text } = anOutput({ isTTY: true, columns: 40 });
  const terminal = createTerminal(stream);
  const working = (title: string) =>
    terminal.step(title, async ({ say }) => {
      say('x'.repeat(200));
      await new Promise((resolve) => setTimeout(resolve, 250));
      return await finished();
    });
  await Promise.all([working('MongoDB'), working('Temporal')]);
  const shown = onScreen(text());
  expect(Math.max(...shown.widths)).toBe(39);
  expect(shown.lines).toEqual([
    expect.stringMatching(/✓ MongoDB {4}on port 1/),
    expect.stringMatching(/✓ Temporal {3}on port 1/),
    '',
  ]);
});

/** Renders the output as a terminal does: new line, cursor up, erase below; colours are dropped. */
function onScreen(written: string): { lines: string[]; widths: number[] } {
  const lines = [''];
  const widths: number[] = [];
  let row = 0;
  for (const [index, piece] of written.split('\u001b[').entries()) {
    const [sequence = '', count = '', command] = (index > 0 && /^(\d*)([A-Za-z])/.exec(piece)) || [];
    if (command === 'A') row -= Number(count);
    if (command === 'J') lines.splice(row, lines.length, '');
    for (const char of piece.slice(sequence.length)) {
      if (char === '\n') row += 1;
      lines[row] = `${lines[row] ?? ''}${/\s/.test(char) && char !== ' ' ? '' : char}`;
      widths.push(lines[row]?.length ?? 0);
    }
  }
  return { lines, widths };
}

test('a closed output does not stop the work', async () => {
  const { stream } = anOutput();
  const terminal = createTerminal(stream);
  stream.destroy(new Error('EPIPE'));
  expect(await terminal.step('MongoDB', finished)).toBe(7);
});
