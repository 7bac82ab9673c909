// Waiting mails are encrypted with SECRETS_KEY, like the secrets of webhooks (../webhooks/signingSecrets.writes.ts).
import { toError } from '../../platform/toError.js';
import type { SecretsDeps } from '../webhooks/signingSecrets.writes.js';
import { placeOf } from './queueMail.writes.js';

/** The encrypted text of each waiting mail. */
export async function* sealedMails(deps: SecretsDeps): AsyncGenerator<{ id: string; sealed: string }> {
  const rows = deps.collections.mails.find({ sealed: { $exists: true } }, { projection: { sealed: 1 } });
  for await (const { _id: id, sealed } of rows) if (sealed !== undefined) yield { id, sealed };
}

/**
 * Encrypts every waiting mail with the newest key; a mail that was sent meanwhile stays as it is. Yields after each
 * mail. `mistake` says why a mail was left unchanged.
 */
export async function* resealMails(deps: SecretsDeps): AsyncGenerator<{ id: string; mistake?: string }> {
  for await (const { id, sealed } of sealedMails(deps)) {
    if (deps.secrets.isCurrent(sealed)) continue;
    try {
      const again = deps.secrets.seal(deps.secrets.open(sealed, placeOf(id)), placeOf(id));
      await deps.collections.mails.updateOne({ _id: id, sealed }, { $set: { sealed: again } });
      yield { id };
    } catch (error) {
      yield { id, mistake: toError(error).message };
    }
  }
}
