// Sends one mail, with retries until the server accepts it, refuses it for good, or its time limit is over. A mail that
// was given up fails the workflow, so that operators find it by its status.
import { ApplicationFailure, setCurrentDetails } from '@temporalio/workflow';
import type { SendMail } from '../../schemas/tables/workflows.js';
import { mails } from '../shared/activityOptions.js';

export async function sendMail({ mailId }: SendMail): Promise<{ state: string }> {
  const { state, failure } = await mails.postMail({ mailId });
  setCurrentDetails(`Done: ${state}.`);
  if (state === 'failed') throw ApplicationFailure.nonRetryable(`The mail was given up: ${failure}.`, 'MAIL_FAILED');
  return { state };
}
