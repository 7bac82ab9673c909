// Lists the subscriptions whose receivers fail. Deliveries are sent again in Temporal (docs/operating.md).
import { type Command, type CommandContext, main, table } from './command.js';

async function failing({ deps, say }: CommandContext): Promise<void> {
  const rows = await deps.collections.subscriptions
    .find({ $or: [{ 'health.failingSince': { $ne: null } }, { 'health.disabledReason': { $exists: true } }] })
    .sort({ 'health.failingSince': 1 })
    .toArray();
  if (rows.length === 0) {
    say('every receiver takes what it is sent');
    return;
  }
  const cells = rows.map(({ _id, merchantId, url, enabled, health }) => [
    _id,
    merchantId,
    new URL(url).host,
    health.failingSince?.toISOString() ?? '',
    String(health.consecutiveFailures),
    enabled ? 'enabled' : `disabled${health.disabledReason ? `: ${health.disabledReason}` : ''}`,
  ]);
  for (const line of table([['SUBSCRIPTION', 'MERCHANT', 'HOST', 'SINCE', 'FAILURES', 'STATE'], ...cells])) say(line);
}

export const webhooks: Command = {
  name: 'webhooks',
  verbs: { failing: { usage: 'failing', does: 'shows the subscriptions that fail, longest first', run: failing } },
};

if (process.argv[1]?.match(/commands\/webhooks\.[jt]s$/)) await main(webhooks);
