// The people who may sign in, and their roles.
import { useState } from 'react';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data, readRoles } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button, controlsOf, Form, Select, Submit, TextInput } from '../parts/form.js';
import { Address, Ago, Failure, Page } from '../parts/page.js';
import { isTyped, OpenPanel, SidePanel } from '../parts/sidePanel.js';
import { PagedTable, usePage } from '../parts/table.js';
import { may, useSession } from '../session.js';
import { texts } from '../texts.js';

/** How long the link of an invitation works (stack/buildConsole.ts). */
declare const INVITATION_HOURS: number;

const said = texts.people;

const readUsers = (page: number) => data(api.GET('/merchants/me/users', { params: { query: { page } } }));
type User = Awaited<ReturnType<typeof readUsers>>['items'][number];

/** The people whom this session may know; of more than a hundred the first. */
export const useUsers = () =>
  useRead(['users', 'all'], () => data(api.GET('/merchants/me/users', { params: { query: { pageSize: 100 } } })), {
    enabled: may('users:view'),
  }).data?.items ?? [];

/** The ids that this service gives to its users; other consoles may name theirs as people do. */
const isOwnId = (id: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id);

/** Names people by their email, where this session may know it. */
export function useNames(): (actor: { id: string; name?: string | undefined }) => string {
  const users = useUsers();
  const own = useSession().data?.user;
  return ({ id, name }) => {
    const known = users.find((user) => user.id === id)?.email ?? name;
    if (known !== undefined) return known;
    if (own?.id === id) return own.email ?? said.you;
    return isOwnId(id) ? said.somebody : id;
  };
}

interface Asked {
  user: User;
  /** Null to remove the person. */
  role: string | null;
  /** Whether the person's keys end too. */
  ends: boolean;
}

type Option = readonly [string, string];

type Role = Awaited<ReturnType<typeof readRoles>>[number];

/** An id is shown only of roles that could not be read. */
export const roleNames = (roles: readonly Role[] | undefined, roleIds: readonly string[]): string =>
  roleIds
    .map((roleId) => (roles ? (roles.find(({ id }) => id === roleId)?.name ?? said.deletedRole) : roleId))
    .join(', ');

/** Several roles of one person are a choice of their own, and so is a role that was deleted. */
const optionsFor = (roles: readonly Role[] | undefined, roleIds: readonly string[]): readonly Option[] => {
  const options = (roles ?? []).map(({ id, name }): Option => [id, name]);
  const own = roleIds.join(',');
  return options.some(([key]) => key === own) ? options : [[own, roleNames(roles, roleIds)], ...options];
};

const blank = { email: '', role: '' };

export function People() {
  const [page, setPage] = usePage();
  const users = useRead(['users', page], () => readUsers(page), { keep: true });
  const roles = useRead(['roles'], readRoles);
  const [draft, setDraft, clear] = useDraft('invitation', blank);
  const of = controlsOf(draft, setDraft);
  const keys = useRead(['keys'], () => data(api.GET('/auth/api-keys')), { enabled: may('api-keys:view') });
  const [isNew, setIsNew] = useState(false);
  const [asks, setAsks] = useState<Asked | null>(null);
  const keysOf = ({ id }: User) => keys.data?.filter((key) => key.createdBy === id && key.revokedAt === null) ?? [];
  /** Until the keys are read, it is not known what has to be asked. */
  const canAsk = may('users:edit') && !(keys.isPending && may('api-keys:view'));
  const invite = useAction(
    () => data(api.POST('/merchants/me/users', { body: { email: draft.email, roleIds: [draft.role] } })),
    {
      changes: ['users'],
      said: said.invited(draft.email),
      onDone() {
        setIsNew(false);
        clear();
      },
    },
  );
  const change = useAction(
    async ({ user: { id }, role, ends }: Asked): Promise<{ name: string }[]> => {
      const params = { path: { id }, query: { revokeKeys: ends } };
      const changed =
        role === null
          ? data(api.DELETE('/merchants/me/users/{id}', { params }))
          : data(api.PATCH('/merchants/me/users/{id}', { params, body: { roleIds: role.split(',') } }));
      return (await changed).apiKeys;
    },
    {
      changes: ['users', 'keys'],
      said(made, { role, ends }) {
        const done = role === null ? said.removed : said.changed;
        return ends || made.length === 0 ? done : `${done} ${said.keys(made.map(({ name }) => name))}`;
      },
      onDone: () => setAsks(null),
    },
  );
  /** Asks before a removal, and before a change of roles where it has to be known what becomes of the person's keys. */
  const ask = (user: User, role: string | null) => {
    const asked = { user, role, ends: false };
    if (role === null || keysOf(user).length > 0) setAsks(asked);
    else change.run(asked);
  };
  const signOut = useAction(() => data(api.POST('/auth/sign-out-everywhere')), {
    changes: ['session'],
    said: ({ signedOut }) => (signedOut ? said.sessionsEnded : texts.session.foreign),
  });
  const options = (roles.data ?? []).map(({ id, name }) => [id, name] as const);
  return (
    <Page
      title={texts.nav.people}
      lead={said.lead(INVITATION_HOURS)}
      actions={
        <>
          <Button onPress={() => signOut.run()}>{said.endSessions}</Button>
          <OpenPanel title={said.new} needs="users:edit" onPress={() => setIsNew(true)} />
        </>
      }
    >
      <Failure error={users.error} />
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
            cell: (user) => (
              <Select
                name={`role-${user.id}`}
                label={said.roleOf(user.email)}
                isDisabled={!canAsk}
                value={user.roleIds.join(',')}
                options={optionsFor(roles.data, user.roleIds)}
                onChange={(role) => ask(user, role)}
              />
            ),
          },
          { title: said.lastSignIn, cell: ({ lastSignInAt }) => <Ago at={lastSignInAt} /> },
          {
            title: texts.frame.actions,
            cell: (user) => (
              <Button
                kind="danger"
                isDisabled={!canAsk}
                aria-label={said.removePerson(user.email)}
                onPress={() => ask(user, null)}
              >
                {said.remove}
              </Button>
            ),
          },
        ]}
      />
      {isNew && (
        <SidePanel title={said.new} isUnsaved={isTyped(draft, blank)} onClose={() => setIsNew(false)}>
          <Form label={said.new} findings={invite.findings} onSubmit={() => invite.run()}>
            <TextInput {...of('email')} type="email" label={said.email} />
            <Select {...of('role')} name="roleIds" label={said.role} options={[['', said.chooseRole], ...options]} />
            {draft.role in said.may && <p className="hint">{said.may[draft.role as keyof typeof said.may]}</p>}
            <div>
              <Submit isRunning={invite.isRunning} isDisabled={draft.role === ''}>
                {said.invite}
              </Submit>
            </div>
          </Form>
        </SidePanel>
      )}
      {asks && (
        <Confirm
          title={(asks.role === null ? said.removePerson : said.changePerson)(asks.user.email)}
          action={asks.role === null ? said.remove : said.change}
          kind="danger"
          isRunning={change.isRunning}
          onConfirm={() => change.run(asks)}
          onClose={() => setAsks(null)}
        >
          {asks.role === null && <p>{said.removeHint}</p>}
          {keysOf(asks.user).length > 0 && (
            <>
              <p>{said.keys(keysOf(asks.user).map(({ name }) => name))}</p>
              <Select
                name="revokeKeys"
                label={said.keysThen}
                isDisabled={!may('api-keys:delete')}
                value={String(asks.ends)}
                options={[
                  ['false', said.keysStay],
                  ['true', said.keysEnd],
                ]}
                onChange={(ends) => setAsks({ ...asks, ends: ends === 'true' })}
              />
            </>
          )}
        </Confirm>
      )}
    </Page>
  );
}
