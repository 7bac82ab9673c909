// The workflow of a mail: it retries with the wait that the activity sets, and fails when the mail is given up.
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;
beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

const input = { merchantId: 'merchant-1', mailId: 'mail-1' };
const delayed = (nextRetryDelay: number) =>
  ApplicationFailure.create({ message: 'It was not taken.', type: 'MAIL_DELAYED', nextRetryDelay });

it('the workflow of a mail completes once the server accepts the mail, after any number of failures', async () => {
  const attempts: number[] = [];
  worker.fakes.postMail = async () => {
    attempts.push(Date.now());
    if (attempts.length < 3) throw delayed(400);
    return { state: 'sent' };
  };
  expect(await (await worker.start('sendMail', input)).result()).toEqual({ state: 'sent' });
  const [first = 0, second = 0, third = 0] = attempts;
  expect([second - first, third - second].every((wait) => wait >= 395)).toBe(true);
});

it('the workflow of a mail fails when the mail is given up, with the reason', async () => {
  worker.fakes.postMail = async () => ({ state: 'failed', failure: 'RCPT TO 550 5.1.1' });
  await expect((await worker.start('sendMail', input)).result()).rejects.toThrow(
    expect.objectContaining({
      cause: expect.objectContaining({ type: 'MAIL_FAILED', message: 'The mail was given up: RCPT TO 550 5.1.1.' }),
    }),
  );
});

it('the workflow of a mail completes when the person was erased', async () => {
  worker.fakes.postMail = async () => ({ state: 'removed' });
  expect(await (await worker.start('sendMail', input)).result()).toEqual({ state: 'removed' });
});
