// Clears what the rows of a removed merchant stand for outside of MongoDB: the objects at Google, which a worker clears
// when Google does not do it at once, and the files of a mail folder.
import { createMailer } from '../../activities/mail/mailer.client.js';
import { clearObjects, owedClears } from '../../activities/wallets/google/clearObjects.activity.js';
import { createWallets } from '../../activities/wallets/wallets.client.js';
import { writeBulk } from '../../platform/mongodb/transact.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { CollectionName } from '../../schemas/tables/collections.js';
import type { CommandContext } from './command.js';

export interface Outside {
  /** Called before the rows are removed. */
  clear: (name: CollectionName, rows: readonly { _id: string }[]) => Promise<void>;
  close: () => Promise<void>;
}

export async function openOutside({ deps, config, mailFolder, progress }: CommandContext): Promise<Outside> {
  const wallets = await createWallets({ config, log: deps.log });
  const { google } = wallets;
  if (!google) progress(`objects at Google are cleared when Google can be called: ${wallets.reasons.google}`);
  const mailer = createMailer({ ...config, SMTP_URL: undefined, MAIL_FOLDER: mailFolder });

  return {
    async clear(name, rows) {
      if (name !== 'members' && name !== 'mails') return;
      await mailer?.forget(rows.map(({ _id }) => _id));
      if (name === 'mails') return;
      const ids = (rows as MemberRow[]).filter(({ pass }) => pass.googleSaveUrl !== undefined).map(({ _id }) => _id);
      await writeBulk(deps, owedClears(deps, ids));
      const owed = await deps.collections.googleClears.find({ _id: { $in: ids } }).toArray();
      if (google) await clearObjects(deps, google, owed);
    },
    close: wallets.close,
  };
}
