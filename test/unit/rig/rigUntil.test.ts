// Tests of the rig: the error of a wait that failed, and the service's log that is printed after a failed test.
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { failureLog, printLogSince } from '../../rig/checks/failureLog.js';
import { until } from '../../rig/checks/until.js';

const soon = { withinMs: 50, everyMs: 5 };

describe('a wait', () => {
  it('ends with the first truthy answer', async () => {
    let asked = 0;
    const third = () => {
      asked += 1;
      return asked === 3 && 'here';
    };
    expect(await until(third, { everyMs: 5 })).toBe('here');
  });

  it('that fails reports the condition, the last answer and further values', async () => {
    const balance = 7;
    const message = await until(() => balance > 9, { ...soon, seen: () => ({ balance }) }).catch(String);
    expect(message).toContain('within 50 ms');
    expect(message).toContain('balance > 9');
    expect(message).toContain('last answer: false');
    expect(message).toContain('seen: { balance: 7 }');
  });

  it('ends when the condition throws, unless that counts as false', async () => {
    const refused = async (): Promise<boolean> => {
      throw new Error('refused');
    };
    await expect(until(refused, soon)).rejects.toThrow(/^refused$/);
    await expect(until(refused, { ...soon, throwingIsNo: true })).rejects.toThrow(/last answer: Error: refused/);
  });
});

describe('the log after a failure', () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  afterEach(() => printed.mockClear());
  // Files of one fork share the console.
  afterAll(() => printed.mockRestore());

  it('has the lines since the start of the test, and no others', () => {
    failureLog.write('{"time":1000,"msg":"before"}\n');
    failureLog.write('{"time":2000,"msg":"meanwhile"}\n');
    printLogSince(1_500, 'a test');
    expect(printed.mock.calls.flat()).toEqual([
      '--- the service\'s log during "a test"',
      '{"time":2000,"msg":"meanwhile"}',
    ]);
  });
});
