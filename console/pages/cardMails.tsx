// The button that mails the people of an import the link to their card: it counts them first, and asks.
import { useState } from 'react';
import type { components } from '../../sdk/index.js';
import { useAction, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { Failure, Skeleton } from '../parts/page.js';
import { may } from '../session.js';
import { texts } from '../texts.js';

const said = texts.cardMails;

/** Nothing where no mail is configured, or no member came of the import. */
export function CardMails({ batch: { id, cardMails } }: { batch: components['schemas']['Batch'] }) {
  const [asks, setAsks] = useState(false);
  const params = { path: { id } };
  const counted = useRead(
    ['card-mails', id],
    () => data(api.GET('/merchants/me/batches/{id}/card-mails', { params })),
    {
      enabled: asks,
    },
  );
  const mail = useAction(() => data(api.POST('/merchants/me/batches/{id}/card-mails', { params })), {
    changes: ['batches', 'card-mails'],
    said: said.started,
    onDone: () => setAsks(false),
  });
  if (cardMails === undefined) return null;
  if (cardMails === 'started') return <span className="hint">{said.isStarted}</span>;
  const { people = 0, withoutEmail = 0, minutes = 0 } = counted.data ?? {};
  return (
    <>
      <Button isDisabled={!may('merchants.members:edit')} onPress={() => setAsks(true)}>
        {said.mail}
      </Button>
      {asks && (
        <Confirm
          title={said.title}
          action={said.send(people)}
          isRunning={mail.isRunning || people === 0}
          onConfirm={() => mail.run()}
          onClose={() => setAsks(false)}
        >
          <Failure error={counted.error} />
          {counted.isPending && <Skeleton />}
          {counted.data && <p>{said.people(people, minutes)}</p>}
          {withoutEmail > 0 && <p>{said.withoutEmail(withoutEmail)}</p>}
          <p className="hint">{said.once}</p>
        </Confirm>
      )}
    </>
  );
}
