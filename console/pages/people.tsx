// The people who may sign in, and their roles.
import { useState } from 'react';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data, send } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button, Form, Select, Submit, TextInput } from '../parts/form.js';
import { Failure, Moment, Page, Panel } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { texts } from '../texts.js';

const said = texts.people;

interface User {
  id: string;
  email: string;
  roleIds: string[];
  createdAt: string;
  lastSignInAt: string | null;
}

export function People() {
  const users = useRead(['users'], () => send<User[]>('GET', '/merchants/me/users'));
  const roles = useRead(['roles'], () => data(api.GET('/merchants/me/roles')));
  const [draft, setDraft, clear] = useDraft('invitation', { email: '', role: 'manager' });
  const [asks, setAsks] = useState<User | null>(null);
  const invite = useAction(() => send('POST', '/merchants/me/users', { email: draft.email, roleIds: [draft.role] }), {
    changes: ['users'],
    said: said.invited(draft.email),
    onDone: clear,
  });
  const change = useAction(
    ({ id, role }: { id: string; role: string }) => send('PATCH', `/merchants/me/users/${id}`, { roleIds: [role] }),
    { changes: ['users'], said: said.changed },
  );
  const remove = useAction((id: string) => send('DELETE', `/merchants/me/users/${id}`), {
    changes: ['users'],
    said: said.removed,
    onDone: () => setAsks(null),
  });
  const options = (roles.data ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <Page title={texts.nav.people} lead={said.lead}>
      <Failure error={users.error} />
      <Panel title={said.new}>
        <Form label={said.new} className="form line" findings={invite.findings} onSubmit={() => invite.run()}>
          <TextInput
            name="email"
            type="email"
            label={said.email}
            value={draft.email}
            onChange={(email) => setDraft({ ...draft, email })}
          />
          <Select
            name="roleIds"
            label={said.role}
            value={draft.role}
            options={options}
            onChange={(role) => setDraft({ ...draft, role })}
          />
          <Submit isRunning={invite.isRunning}>{said.invite}</Submit>
        </Form>
      </Panel>
      <Table
        name={texts.nav.people}
        rows={users.data}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.person, cell: ({ email }) => email },
          {
            title: said.roles,
            cell: ({ id, email, roleIds }) => (
              <Select
                name={`role-${id}`}
                label={said.roleOf(email)}
                value={roleIds[0] ?? ''}
                options={options}
                onChange={(role) => change.run({ id, role })}
              />
            ),
          },
          { title: said.lastSignIn, cell: ({ lastSignInAt }) => <Moment at={lastSignInAt} /> },
          {
            title: texts.frame.actions,
            cell: (user) => (
              <Button kind="danger" aria-label={said.removePerson(user.email)} onPress={() => setAsks(user)}>
                {said.remove}
              </Button>
            ),
          },
        ]}
      />
      {asks && (
        <Confirm
          title={said.removePerson(asks.email)}
          action={said.remove}
          kind="danger"
          isRunning={remove.isRunning}
          onConfirm={() => remove.run(asks.id)}
          onClose={() => setAsks(null)}
        >
          <p>{said.removeHint}</p>
        </Confirm>
      )}
    </Page>
  );
}
