// The audit: who did what, on what, from where, newest first.
import { Link } from 'wouter';
import { useRead, useSettled } from '../actions.js';
import { api, data, readRoles } from '../api.js';
import { changedField } from '../changedFields.js';
import { Select, TextInput } from '../parts/form.js';
import { Address, Failure, Fold, Moment, None, Page } from '../parts/page.js';
import { PagedTable, useFilters } from '../parts/table.js';
import { Changes, type Words } from '../parts/value.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { useNames, useUsers } from './people.js';
import { RequestLink } from './requests.js';

const said = texts.audit;

const readAudit = (query: Record<string, string>) => data(api.GET('/merchants/me/audit', { params: { query } }));
type Entry = Awaited<ReturnType<typeof readAudit>>['items'][number];
type Action = Entry['action'];

/** Every action must have a name here to compile. */
const actions: Record<Action, string> = said.actions;
const targets: Readonly<Record<string, string>> = said.targets;

/** The page of a target by the first word of its actions. */
const pageOf: Record<string, (id: string) => string> = {
  member: (id) => `/members/${id}`,
  program: (id) => `/programs/${id}`,
  webhook: (id) => `/webhooks/${id}`,
  'api-key': () => '/api-keys',
  user: () => '/people',
  reader: () => '/readers',
  import: () => '/imports',
  campaign: () => '/campaigns',
};

const short = (id: string): string => (id.length > 12 ? `${id.slice(0, 8)}…` : id);

/** The name of the target, with a link to its page; the id of one that has no name or is gone. */
function Target({ entry: { action, targetId, targetName }, name }: { entry: Entry; name: string | undefined }) {
  const [kind = ''] = action.split('.');
  const known = targetName ?? targets[kind] ?? name;
  if (known === undefined) return <code title={targetId}>{short(targetId)}</code>;
  const page = pageOf[kind]?.(targetId);
  return page ? (
    <Link href={page} title={targetId}>
      <Address>{known}</Address>
    </Link>
  ) : (
    <span title={targetId}>
      <Address>{known}</Address>
    </span>
  );
}

type Named = readonly [id: string, name: string];

/** Who and what there is to choose from, as far as the role may see it. */
function useChoices(entries: readonly Entry[]): { actors: Named[]; targets: Named[] } {
  const page = { params: { query: { pageSize: 100 } } };
  const users = useUsers();
  const keys = useRead(['keys'], () => data(api.GET('/auth/api-keys')), { enabled: may('api-keys:view') });
  const readers = useRead(['readers', 'all'], () => data(api.GET('/merchants/me/readers', page)), {
    enabled: may('readers:edit'),
  });
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')), {
    enabled: may('merchants.programs:view'),
  });
  const devices = (readers.data?.items ?? []).map(({ id, name }): Named => [id, name]);
  const makers = (keys.data ?? []).map(({ id, name }): Named => [id, name]);
  const people = users.map(({ id, email }): Named => [id, email]);
  return {
    actors: distinct([
      ...people,
      ...makers,
      ...devices,
      ...entries.flatMap(({ actor: { id, name } }): Named[] => (name === undefined ? [] : [[id, name]])),
    ]),
    targets: distinct([
      ...(programs.data ?? []).map(({ _id, name }): Named => [_id, name]),
      ...people,
      ...makers,
      ...devices,
      ...entries.flatMap(({ targetId, targetName }): Named[] =>
        targetName === undefined ? [] : [[targetId, targetName]],
      ),
    ]),
  };
}

const distinct = (named: readonly Named[]): Named[] =>
  [...new Map(named)].sort(([, one], [, other]) => one.localeCompare(other));

interface ChoiceProps {
  name: 'actor' | 'targetId';
  label: string;
  any: string;
  choices: readonly Named[];
  params: URLSearchParams;
  put: (key: string, value: string) => void;
}

/** A filter by name. The address may hold an id that no choice has: it stays chosen. */
function Choice({ name, label, any, choices, params, put }: ChoiceProps) {
  const value = params.get(name) ?? '';
  const isKnown = value === '' || choices.some(([id]) => id === value);
  return (
    <Select
      name={name}
      label={label}
      value={value}
      options={[['', any], ...(isKnown ? [] : [[value, short(value)] as const]), ...choices]}
      onChange={(id) => put(name, id)}
    />
  );
}

/** From where, and by which request. */
function Details({ address, requestId }: Pick<Entry, 'address' | 'requestId'>) {
  if (!address && !requestId) return <None />;
  return (
    <details>
      <summary>{said.show}</summary>
      {address && <p className="unbroken">{said.network(address)}</p>}
      {requestId && <RequestLink id={requestId} />}
    </details>
  );
}

/** From what to what; of an entry without it, the names of the fields that were sent. */
function Changed({ entry: { action, changes, fields = [] }, names }: { entry: Entry; names: Words }) {
  const [kind = ''] = action.split('.');
  if (changes && changes.length > 0) return <Changes kind={kind} changes={changes} names={names} />;
  return fields.map((field) => changedField(kind, field).label ?? field).join(', ');
}

export function Audit() {
  const [params, put] = useFilters();
  const nameOf = useNames();
  const users = useUsers();
  const query = useSettled(params.toString(), 250);
  const entries = useRead(['audit', query], () => readAudit(Object.fromEntries(new URLSearchParams(query))), {
    keep: true,
  });
  const choices = useChoices(entries.data?.items ?? []);
  const roles = useRead(['roles'], readRoles, { enabled: may('users:view') });
  const names = Object.fromEntries([
    ...choices.targets,
    ...(roles.data ?? []).map(({ id, name }): Named => [id, name]),
  ]);
  return (
    <Page title={texts.nav.audit} lead={said.lead}>
      <Fold title={texts.frame.filters}>
        <search className="fields">
          <Select
            name="action"
            label={said.action}
            value={params.get('action') ?? ''}
            options={[['', said.anyAction], ...Object.entries(actions)]}
            onChange={(value) => put('action', value)}
          />
          <TextInput
            name="since"
            type="date"
            label={said.since}
            value={(params.get('since') ?? '').slice(0, 10)}
            onChange={(value) => put('since', value && `${value}T00:00:00Z`)}
          />
          <Choice name="actor" label={said.actor} any={said.anybody} choices={choices.actors} {...{ params, put }} />
          <Choice
            name="targetId"
            label={said.target}
            any={said.anything}
            choices={choices.targets}
            {...{ params, put }}
          />
        </search>
      </Fold>
      <Failure error={entries.error} />
      <PagedTable
        name={texts.nav.audit}
        data={entries.data}
        onPage={(page) => put('page', String(page))}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.when, cell: ({ createdAt }) => <Moment at={createdAt} /> },
          { title: said.actor, cell: ({ actor }) => <Address>{nameOf(actor)}</Address> },
          { title: said.action, cell: ({ action }) => actions[action] },
          {
            title: said.target,
            cell: (entry) => <Target entry={entry} name={users.find(({ id }) => id === entry.targetId)?.email} />,
          },
          {
            title: said.fields,
            cell: (entry) => <Changed entry={entry} names={names} />,
          },
          { title: said.details, cell: (entry) => <Details {...entry} /> },
        ]}
      />
    </Page>
  );
}
