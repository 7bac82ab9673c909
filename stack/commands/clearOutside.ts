// Clears what the rows of a removed merchant stand for outside of MongoDB: the names in the objects at Google, which
// cannot be deleted, and the files of a mail folder.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMailer } from '../../activities/mail/mailer.js';
import { clearObjectOf } from '../../activities/wallets/google/clearObject.js';
import { GoogleWalletError } from '../../activities/wallets/google/googleWalletError.js';
import { createWallets, type GoogleWallet } from '../../activities/wallets/wallets.js';
import type { CollectionName, MemberRow } from '../../schemas/collections.js';
import { type CommandContext, Mistakes } from './command.js';

export interface Outside {
  /** Called before the rows are removed. Throws Mistakes when Google does not answer. */
  clear: (name: CollectionName, rows: readonly { _id: string }[]) => Promise<void>;
  close: () => Promise<void>;
}

const attempts = 4;

export async function openOutside({ deps, config, mailFolder, progress }: CommandContext): Promise<Outside> {
  const wallets = await createWallets({ config, log: deps.log });
  const { google } = wallets;
  if (!google) progress(`objects at Google stay as they are: ${wallets.reasons.google}`);
  const mailer = createMailer({ ...config, SMTP_URL: undefined, MAIL_FOLDER: mailFolder });

  async function clearObject(api: GoogleWallet, { _id: memberId, programId, field }: MemberRow): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await clearObjectOf(api, { memberId, programId, label: field });
      } catch (error) {
        if (!(error instanceof GoogleWalletError)) throw error;
        if (!error.mayPass) return progress(`Google refuses to clear the object of ${memberId}: ${error.reason}`);
        if (attempt === attempts) throw new Mistakes([`Google does not answer (${error.reason}); run it again`]);
        await sleep(attempt * 1_000);
      }
    }
  }

  return {
    async clear(name, rows) {
      if (name !== 'members' && name !== 'mails') return;
      await mailer?.forget(rows.map(({ _id }) => _id));
      if (name === 'mails' || !google) return;
      const saved = (rows as MemberRow[]).filter(({ pass }) => pass.googleSaveUrl !== undefined);
      await Promise.all(saved.map((member) => clearObject(google, member)));
    },
    close: wallets.close,
  };
}
