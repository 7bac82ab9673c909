// Runs after an enrollment: issues the pass on both wallets in parallel, then publishes `member.created`. When a wallet
// fails, the event says that its pass is not issued, and the pass is issued later.
import {
  allHandlersFinished,
  condition,
  defineUpdate,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { type IssuePasses, type PassIssuance, passIssuanceName } from '../../schemas/tables/workflows.js';
import { issueNow, issueUntilDone, webhooks } from '../shared/activityOptions.js';

// An update, not a query, because the public page waits until both wallets have finished their first attempt.
const passIssuance = defineUpdate<PassIssuance>(passIssuanceName);

export async function issuePasses({ memberId, eventId }: IssuePasses): Promise<PassIssuance> {
  const leaseOwner = workflowInfo().workflowId;
  const memberIds = [memberId];
  let issued: PassIssuance | undefined;
  setHandler(passIssuance, async () => {
    await condition(() => issued !== undefined);
    return issued ?? { apple: false, google: false };
  });

  const failed = (platform: string) => (error: unknown) => {
    log.warn('A pass was not issued yet; it is retried.', { platform, error: String(error) });
    return null;
  };
  setCurrentDetails('Issuing the passes.');
  const [apple, google] = await Promise.all([
    issueNow.issueApplePasses({ memberIds, leaseOwner }).catch(failed('apple')),
    issueNow.issueGooglePasses({ memberIds, leaseOwner }).catch(failed('google')),
  ]);
  issued = { apple: apple !== null, google: google !== null };

  setCurrentDetails('Publishing the event.');
  const eventIds = [eventId, ...(apple?.newEventIds ?? []), ...(google?.newEventIds ?? [])];
  await webhooks.publishEvents({ leaseOwner, eventIds });

  if (!apple || !google) {
    setCurrentDetails(
      `Published the event; still issuing ${[apple ? '' : 'Apple', google ? '' : 'Google'].filter(Boolean).join(' and ')}.`,
    );
    await issueUntilDone.issueLate({ memberIds });
  }
  setCurrentDetails('Done: the passes are issued and the events published.');
  await condition(allHandlersFinished);
  return issued;
}
