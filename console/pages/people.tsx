// The people who may sign in, and their roles.
import { useState } from 'react';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data, readRoles } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button, Form, Select, Submit, TextInput } from '../parts/form.js';
import { Address, Failure, Moment, Page, Panel } from '../parts/page.js';
import { PagedTable, usePage } from '../parts/table.js';
import { may, useSession } from '../session.js';
import { texts } from '../texts.js';

const said = texts.people;

const readUsers = (page: number) => data(api.GET('/merchants/me/users', { params: { query: { page } } }));
type User = Awaited<ReturnType<typeof readUsers>>['items'][number];

/** Names people by their email, where this session may know it. */
export function useNames(): (actor: { id: string; name?: string | undefined }) => string {
  const users = useRead(['users', 1], () => readUsers(1), { enabled: may('users:view') });
  const own = useSession().data?.user;
  return ({ id, name }) =>
    users.data?.items.find((user) => user.id === id)?.email ?? name ?? (own?.id === id ? (own.email ?? said.you) : id);
}

type Option = readonly [string, string];

/** Several roles of one person are a choice of their own. */
const withCombined = (options: readonly Option[], roleIds: readonly string[]): readonly Option[] => {
  if (roleIds.length < 2) return options;
  const names = roleIds.map((id) => options.find(([key]) => key === id)?.[1] ?? id);
  return [[roleIds.join(','), names.join(', ')], ...options];
};

export function People() {
  const [page, setPage] = usePage();
  const users = useRead(['users', page], () => readUsers(page), { keep: true });
  const roles = useRead(['roles'], readRoles);
  const [draft, setDraft, clear] = useDraft('invitation', { email: '', role: 'manager' });
  const [asks, setAsks] = useState<User | null>(null);
  const invite = useAction(
    () => data(api.POST('/merchants/me/users', { body: { email: draft.email, roleIds: [draft.role] } })),
    {
      changes: ['users'],
      said: said.invited(draft.email),
      onDone: clear,
    },
  );
  const change = useAction(
    ({ id, role }: { id: string; role: string }) =>
      data(api.PATCH('/merchants/me/users/{id}', { params: { path: { id } }, body: { roleIds: role.split(',') } })),
    { changes: ['users'], said: said.changed },
  );
  const remove = useAction((id: string) => data(api.DELETE('/merchants/me/users/{id}', { params: { path: { id } } })), {
    changes: ['users'],
    said: said.removed,
    onDone: () => setAsks(null),
  });
  const signOut = useAction(() => data(api.POST('/auth/sign-out-everywhere')), {
    changes: ['session'],
    said: ({ signedOut }) => (signedOut ? said.sessionsEnded : texts.session.foreign),
  });
  const options = (roles.data ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <Page
      title={texts.nav.people}
      lead={said.lead}
      actions={<Button onPress={() => signOut.run()}>{said.endSessions}</Button>}
    >
      <Failure error={users.error} />
      <Panel title={said.new} needs="users:edit" folds>
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
      <PagedTable
        name={texts.nav.people}
        data={users.data}
        onPage={setPage}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.person, cell: ({ email }) => <Address>{email}</Address> },
          {
            title: said.roles,
            cell: ({ id, email, roleIds }) => (
              <Select
                name={`role-${id}`}
                label={said.roleOf(email)}
                isDisabled={!may('users:edit')}
                value={roleIds.join(',')}
                options={withCombined(options, roleIds)}
                onChange={(role) => change.run({ id, role })}
              />
            ),
          },
          { title: said.lastSignIn, cell: ({ lastSignInAt }) => <Moment at={lastSignInAt} /> },
          {
            title: texts.frame.actions,
            cell: (user) => (
              <Button
                kind="danger"
                isDisabled={!may('users:edit')}
                aria-label={said.removePerson(user.email)}
                onPress={() => setAsks(user)}
              >
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
