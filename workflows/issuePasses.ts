// What follows an enrollment: both wallets issue in parallel, then the merchant is told what was issued. A wallet that fails
// is told as such at once, and its pass is issued later.
import {
  allHandlersFinished,
  condition,
  defineUpdate,
  log,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { type IssuePasses, type PassIssuance, passIssuanceUpdate } from '../schemas/workflows.js';
import { issueNow, issueUntilDone, webhooks } from './activityOptions.js';

// An update and not a query: the public page waits until the first try of both wallets is over.
const passIssuance = defineUpdate<PassIssuance>(passIssuanceUpdate);

export async function issuePasses({ memberId, eventId }: IssuePasses): Promise<PassIssuance> {
  const holder = workflowInfo().workflowId;
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
    issueNow.issueApplePasses({ memberIds, holder }).catch(failed('apple')),
    issueNow.issueGooglePasses({ memberIds, holder }).catch(failed('google')),
  ]);
  issued = { apple: apple !== null, google: google !== null };

  setCurrentDetails('Telling the merchant.');
  const eventIds = [eventId, ...(apple?.eventIds ?? []), ...(google?.eventIds ?? [])];
  await webhooks.publishEvents({ holder, eventIds });

  if (!apple || !google) {
    setCurrentDetails(
      `Told the merchant; still issuing ${[apple ? '' : 'Apple', google ? '' : 'Google'].filter(Boolean).join(' and ')}.`,
    );
    const late = await Promise.all([
      apple ? null : issueUntilDone.issueApplePasses({ memberIds, holder }),
      google ? null : issueUntilDone.issueGooglePasses({ memberIds, holder }),
    ]);
    await webhooks.publishEvents({ holder, eventIds: late.flatMap((result) => result?.eventIds ?? []) });
  }
  setCurrentDetails('Done: the passes are issued and the merchant was told.');
  await condition(allHandlersFinished);
  return issued;
}
