// Lists the subscriptions whose receivers fail, and revokes the old secrets of a subscription. Deliveries are repeated
// in Temporal (docs/operating.md).

import { revokeOldSecrets } from '../../activities/webhooks/signingSecrets.writes.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main, table } from './command.js';

async function failing({ deps, say }: CommandContext): Promise<void> {
  const rows = await deps.collections.subscriptions
    .find({ $or: [{ 'health.failingSince': { $gt: new Date(0) } }, { 'health.disabledReason': { $exists: true } }] })
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

async function revokeSecrets({ deps, audited, secrets, say }: CommandContext, { args }: CommandInput): Promise<void> {
  const [id, ...more] = args;
  if (!id || more.length > 0) throw new Mistakes(['name one subscription']);
  const found = await deps.collections.subscriptions.findOne({ _id: id }, { projection: { merchantId: 1 } });
  const targets = found ? [{ merchantId: found.merchantId }] : [];
  const revoked = await revokeOldSecrets({ ...audited(targets, ['subscriptions']), secrets }, id);
  say(`${revoked} old ${revoked === 1 ? 'secret' : 'secrets'} revoked; only the newest one signs`);
}

export const webhooks: Command = {
  name: 'webhooks',
  verbs: {
    failing: {
      usage: 'failing',
      does: 'shows the subscriptions that fail, longest first',
      example: 'failing',
      audit: null,
      run: failing,
    },
    'revoke-secrets': {
      usage: 'revoke-secrets SUBSCRIPTION',
      does: 'ends every secret of a subscription but the newest, at once',
      example: 'revoke-secrets 6b1f7c1e',
      takesWords: true,
      audit: 'webhook.revoke-secrets',
      run: revokeSecrets,
    },
  },
};

if (process.argv[1]?.match(/commands\/webhooks\.[jt]s$/)) await main(webhooks);
