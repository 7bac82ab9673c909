// Re-encrypts everything encrypted with SECRETS_KEY with the newest key of the ring, and shows which keys are still
// needed (docs/operating.md#rotate-keys).
import { resealMails, sealedMails } from '../../activities/mail/queueMail.writes.js';
import { resealSecrets, type SecretsDeps, sealedSecrets } from '../../activities/webhooks/signingSecrets.writes.js';
import { parseKeyRing } from '../../schemas/shared/keyRing.rules.js';
import { type Command, type CommandContext, givenSecrets, Mistakes, main, table } from './command.js';

/** How many secrets are encrypted with each key, by the key's id, and how many are not bound to their row. */
async function countSealed(deps: SecretsDeps): Promise<{ byKey: Map<string, number>; outdated: number }> {
  const byKey = new Map<string, number>();
  let outdated = 0;
  for (const all of [sealedSecrets(deps), sealedMails(deps)])
    for await (const { sealed } of all) {
      const keyId = deps.secrets.keyIdOf(sealed);
      byKey.set(keyId, (byKey.get(keyId) ?? 0) + 1);
      if (!deps.secrets.isCurrent(sealed)) outdated += 1;
    }
  return { byKey, outdated };
}

async function status(context: CommandContext): Promise<void> {
  const { deps, config, say } = context;
  const { byKey, outdated } = await countSealed({ ...deps, secrets: givenSecrets(context) });
  const ring = [config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS].flatMap((text) =>
    text ? parseKeyRing(text).keys : [],
  );
  const known = ring.map(({ id, name = '' }) => [id, name, String(byKey.get(id) ?? 0)]);
  const missing = [...byKey].filter(([id]) => !ring.some((key) => key.id === id));
  const lines = [
    ['KEY', 'NAME', 'SECRETS'],
    ...known,
    ...missing.map(([id, count]) => [id, '(missing)', String(count)]),
  ];
  for (const line of table(lines)) say(line);
  say(
    outdated === 0 ? 'all secrets are sealed with the newest key' : `${outdated} to reseal: npm run secrets -- reseal`,
  );
}

async function reseal(context: CommandContext): Promise<void> {
  const deps = { ...context.deps, secrets: givenSecrets(context) };
  const mistakes: string[] = [];
  for (const [name, resealing] of [
    ['subscription', resealSecrets(deps)],
    ['mail', resealMails(deps)],
  ] as const) {
    let done = 0;
    for await (const { id, mistake } of resealing) {
      if (mistake === undefined) done += 1;
      else mistakes.push(`${name} ${id}: ${mistake}`);
    }
    context.say(`the secrets of ${done} ${name}s were resealed`);
  }
  const { outdated } = await countSealed(deps);
  if (outdated > 0 && mistakes.length === 0)
    mistakes.push(
      `${outdated} secrets were sealed with an older key meanwhile: restart API and worker, then repeat this`,
    );
  if (mistakes.length > 0) throw new Mistakes(mistakes);
}

export const secrets: Command = {
  name: 'secrets',
  verbs: {
    status: {
      usage: 'status',
      does: 'shows how many secrets each key of SECRETS_KEY has sealed',
      example: 'status',
      audit: null,
      run: status,
    },
    reseal: {
      usage: 'reseal',
      does: 'seals every secret with the first key of SECRETS_KEY; may be interrupted and repeated',
      example: 'reseal',
      audit: null,
      run: reseal,
    },
  },
};

if (process.argv[1]?.match(/commands\/secrets\.[jt]s$/)) await main(secrets);
