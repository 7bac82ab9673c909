// What an operator's command prints when something fails that nobody foresaw (stack/commands/command.ts).
import { expect, it } from 'vitest';
import { type Command, runCommand } from '../../../stack/commands/command.js';

it('an unforeseen error is one line without a stack, and exit code 1', async () => {
  const command: Command = {
    name: 'fails',
    verbs: {
      now: {
        ...{ usage: 'now', does: 'fails', example: 'now', audit: null },
        run: async () => {
          throw new TypeError('the rows have no end');
        },
      },
    },
  };
  const printed: string[] = [];
  const code = await runCommand(command, {
    argv: ['now'],
    env: { MONGODB_URI: 'mongodb://127.0.0.1:1/?directConnection=true', TEMPORAL_ADDRESS: '127.0.0.1:1' },
    out: (text) => printed.push(text),
    err: (text) => printed.push(text),
  });
  expect([code, printed]).toEqual([1, ['the rows have no end\n']]);
});
