import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { createTerminal, type Output } from '../../stack/terminal.js';

function anOutput(over: Pick<Output, 'isTTY' | 'columns'> = {}) {
  const stream: Output = Object.assign(new PassThrough(), over);
  return { stream, text: () => String(stream instanceof PassThrough ? (stream.read() ?? '') : '') };
}

const finished = async () => ({ result: 7, said: 'on port 1' });

test('a step gives its result and one line with what was said and how long it took', async () => {
  const { stream, text } = anOutput();
  expect(await createTerminal(stream).step('MongoDB', finished)).toBe(7);
  expect(text()).toMatch(/^ {2}✓ MongoDB {4}on port 1 {2}\d+\.\d s\n$/);
});

test('piped, a long step says the same sentence once, whatever its numbers', async () => {
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

test('a step that fails is marked and its error passed on', async () => {
  const { stream, text } = anOutput();
  const failing = createTerminal(stream).step('API', () => Promise.reject(new Error('port taken')));
  await expect(failing).rejects.toThrow('port taken');
  expect(text()).toBe('  ✗ API\n');
});

test('on a terminal the moving line is no wider than the terminal and gone when the step ends', async () => {
  const { stream, text } = anOutput({ isTTY: true, columns: 40 });
  await createTerminal(stream).step('MongoDB', async ({ say }) => {
    say('x'.repeat(200));
    await new Promise((resolve) => setTimeout(resolve, 250));
    return await finished();
  });
  const written = text();
  const widths = written.split(/[\r\n]/).map((line) => stripVTControlCharacters(line).length);
  expect(Math.max(...widths)).toBe(39);
  expect(written.split('\r\u001b[2K').at(-1)).toMatch(/MongoDB.*on port 1/);
});

test('an output that goes away does not stop the work', async () => {
  const { stream } = anOutput();
  const terminal = createTerminal(stream);
  stream.destroy(new Error('EPIPE'));
  expect(await terminal.step('MongoDB', finished)).toBe(7);
});
