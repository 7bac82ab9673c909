// The push of what the wallets did not accept with the change: repeated until they do, for at most 24 h.
import { pushUntilSent, webhooks } from './activityOptions.js';

interface PushLate {
  leaseOwner: string;
  eventIds: string[];
  /** A late push can return events that the first attempt made, and no receiver should get those twice. */
  publishing?: Promise<unknown>;
}

/** Publishes the events of the push, after those that are being published. */
export async function pushLate({ leaseOwner, eventIds, publishing }: PushLate): Promise<void> {
  if (eventIds.length === 0) return;
  const [{ newEventIds }] = await Promise.all([pushUntilSent.pushLate({ leaseOwner, eventIds }), publishing]);
  if (newEventIds.length > 0) await webhooks.publishEvents({ leaseOwner, eventIds: newEventIds });
}
