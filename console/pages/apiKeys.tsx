// API keys: a new one, whose secret is shown once, and revoking.
import { useState } from 'react';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data, readRoles } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button, Choices, controlsOf, Form, Submit, TextInput } from '../parts/form.js';
import { Address, Ago, Badge, Failure, Moment, Page } from '../parts/page.js';
import { Secret } from '../parts/secret.js';
import { isTyped, OpenPanel, SidePanel } from '../parts/sidePanel.js';
import { Table } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { roleNames, useNames } from './people.js';

const said = texts.apiKeys;
const blank = { name: '', roleIds: ['integration'], expiresAt: '' };

export function ApiKeys() {
  const keys = useRead(['keys'], () => data(api.GET('/auth/api-keys')));
  const roles = useRead(['roles'], readRoles);
  const nameOf = useNames();
  /** A key may have made another one. */
  const creatorOf = (id: string) => nameOf({ id, name: keys.data?.find((key) => key.id === id)?.name });
  const [draft, setDraft, clear] = useDraft('new-key', blank);
  const of = controlsOf(draft, setDraft);
  const [isNew, setIsNew] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [asks, setAsks] = useState<{ id: string; name: string } | null>(null);
  const creation = useAction(
    () => {
      const { name, roleIds, expiresAt } = draft;
      const body = { name, roleIds, ...(expiresAt && { expiresAt: new Date(expiresAt).toISOString() }) };
      return data(api.POST('/auth/api-keys', { body }));
    },
    {
      changes: ['keys'],
      said: said.created,
      onDone({ key }) {
        setSecret(key);
        setIsNew(false);
        clear();
      },
    },
  );
  const revoke = useAction((id: string) => data(api.DELETE('/auth/api-keys/{id}', { params: { path: { id } } })), {
    changes: ['keys'],
    said: said.revoked,
    onDone: () => setAsks(null),
  });
  return (
    <Page
      title={texts.nav.apiKeys}
      lead={said.lead}
      actions={<OpenPanel title={said.new} needs="api-keys:create" onPress={() => setIsNew(true)} />}
    >
      <Failure error={keys.error} />
      <Table
        name={texts.nav.apiKeys}
        rows={keys.data}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.key, cell: ({ name }) => name, sort: ({ name }) => name },
          { title: said.prefix, cell: ({ keyPrefix }) => <code>{keyPrefix}</code> },
          { title: said.roles, cell: ({ roleIds }) => roleNames(roles.data, roleIds) },
          {
            title: said.createdBy,
            cell: ({ createdBy }) => <Address>{creatorOf(createdBy)}</Address>,
            sort: ({ createdBy }) => creatorOf(createdBy),
          },
          {
            title: said.lastUsed,
            cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
            sort: ({ lastUsedAt }) => lastUsedAt,
          },
          {
            title: said.expires,
            cell: ({ expiresAt }) => <Moment at={expiresAt} />,
            sort: ({ expiresAt }) => expiresAt,
          },
          {
            title: texts.frame.actions,
            cell: ({ id, name, revokedAt }) =>
              revokedAt ? (
                <Badge kind="plain">{said.isRevoked}</Badge>
              ) : (
                <Button
                  isDisabled={!may('api-keys:delete')}
                  kind="danger"
                  aria-label={said.revokeKey(name)}
                  onPress={() => setAsks({ id, name })}
                >
                  {said.revoke}
                </Button>
              ),
          },
        ]}
      />
      {isNew && (
        <SidePanel title={said.new} isUnsaved={isTyped(draft, blank)} onClose={() => setIsNew(false)}>
          <Form label={said.new} findings={creation.findings} onSubmit={() => creation.run()}>
            <div className="fields">
              <TextInput {...of('name')} label={said.name} />
              <TextInput {...of('expiresAt')} type="datetime-local" label={said.expires} hint={said.expiresHint} />
            </div>
            <Choices
              {...of('roleIds')}
              label={said.roles}
              options={(roles.data ?? []).map(({ id, name }) => [id, name])}
            />
            <div>
              <Submit isRunning={creation.isRunning}>{texts.frame.create}</Submit>
            </div>
          </Form>
        </SidePanel>
      )}
      {secret && (
        <Secret title={said.secretTitle} hint={said.secretHint} value={secret} onClose={() => setSecret(null)} />
      )}
      {asks && (
        <Confirm
          title={said.revokeKey(asks.name)}
          action={said.revoke}
          kind="danger"
          isRunning={revoke.isRunning}
          onConfirm={() => revoke.run(asks.id)}
          onClose={() => setAsks(null)}
        >
          <p>{said.revokeHint}</p>
        </Confirm>
      )}
    </Page>
  );
}
