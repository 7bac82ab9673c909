// The commands of package.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';

const manifest = readFileSync(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8');
const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(manifest));

/** npm passes a signal to its shell alone, which would leave a process of its own behind. */
it('a command that is one process takes the place of its shell', () => {
  const single = Object.entries(scripts).filter(([, line]) => /^(exec )?node /.test(line) && !line.includes('&&'));
  expect(single.map(([name]) => name)).toContain('receiver');
  expect(single.filter(([, line]) => !line.startsWith('exec '))).toEqual([]);
});
