// The button that mails the people of an import the link to their card: it counts them first, and asks.
import type { components } from '../../sdk/index.js';
import { useAction, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Confirm, useWindow } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { Failure, Skeleton } from '../parts/page.js';
import { may } from '../session.js';
import { texts } from '../texts.js';

const said = texts.cardMails;
type Batch = components['schemas']['Batch'];

/** How many people of an import have an email; kept for some days. */
export const useCardMails = ({ id }: Pick<Batch, 'id'>, enabled: boolean) =>
  useRead(
    ['card-mails', id],
    () => data(api.GET('/merchants/me/batches/{id}/card-mails', { params: { path: { id } } })),
    { enabled },
  );

/** Nothing where no mail is configured, or no member came of the import. */
export function CardMails({ batch: { id, cardMails } }: { batch: Batch }) {
  const open = useWindow();
  if (cardMails === undefined) return null;
  if (cardMails === 'started') return <span className="hint">{said.isStarted}</span>;
  return (
    <Button
      isDisabled={!may('merchants.members:edit')}
      onPress={() => open((close) => <MailQuestion id={id} onClose={close} />)}
    >
      {said.mail}
    </Button>
  );
}

function MailQuestion({ id, onClose }: { id: string; onClose: () => void }) {
  const params = { path: { id } };
  const counted = useCardMails({ id }, true);
  const mail = useAction(() => data(api.POST('/merchants/me/batches/{id}/card-mails', { params })), {
    changes: ['batches', 'card-mails'],
    said: said.started,
    onDone: onClose,
  });
  const { people = 0, withoutEmail = 0, minutes = 0 } = counted.data ?? {};
  return (
    <Confirm
      title={said.title}
      action={said.send(people)}
      isRunning={mail.isRunning || people === 0}
      onConfirm={() => mail.run()}
      onClose={onClose}
    >
      <Failure error={counted.error} />
      {counted.isPending && <Skeleton />}
      {counted.data && <p>{said.people(people, minutes)}</p>}
      {withoutEmail > 0 && <p>{said.withoutEmail(withoutEmail)}</p>}
      <p className="hint">{said.once}</p>
    </Confirm>
  );
}
