// The audit: who did what, on what, from where, newest first.
import { Link } from 'wouter';
import { useRead, useSettled } from '../actions.js';
import { api, data } from '../api.js';
import { Select, TextInput } from '../parts/form.js';
import { Address, Failure, Fold, Moment, Page } from '../parts/page.js';
import { PagedTable, useFilters } from '../parts/table.js';
import { texts } from '../texts.js';
import { useNames } from './people.js';
import { RequestLink } from './requests.js';

const said = texts.audit;

const readAudit = (query: Record<string, string>) => data(api.GET('/merchants/me/audit', { params: { query } }));
type Entry = Awaited<ReturnType<typeof readAudit>>['items'][number];
type Action = Entry['action'];

/** Every action must have a name here to compile. */
const actions: Record<Action, string> = said.actions;

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

/** The name of the target, with a link to its page; the id of one that has no name or is gone. */
function Target({ entry: { action, targetId, targetName }, name }: { entry: Entry; name: string }) {
  const [kind = ''] = action.split('.');
  const known = targetName ?? said.targets[kind] ?? (name === targetId ? undefined : name);
  if (known === undefined)
    return <code title={targetId}>{targetId.length > 12 ? `${targetId.slice(0, 8)}…` : targetId}</code>;
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

export function Audit() {
  const [params, put] = useFilters();
  const nameOf = useNames();
  const query = useSettled(params.toString(), 250);
  const entries = useRead(['audit', query], () => readAudit(Object.fromEntries(new URLSearchParams(query))), {
    keep: true,
  });
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
          {(['actor', 'targetId'] as const).map((key) => (
            <TextInput
              key={key}
              name={key}
              label={key === 'actor' ? said.actorId : said.targetId}
              value={params.get(key) ?? ''}
              onChange={(value) => put(key, value)}
            />
          ))}
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
          { title: said.target, cell: (entry) => <Target entry={entry} name={nameOf({ id: entry.targetId })} /> },
          { title: said.fields, cell: ({ fields = [] }) => fields.join(', ') },
          {
            title: said.address,
            cell: ({ address }) => (address ? <span className="unbroken">{address}</span> : texts.frame.none),
          },
          {
            title: said.request,
            cell: ({ requestId }) => (requestId ? <RequestLink id={requestId} /> : texts.frame.none),
          },
        ]}
      />
    </Page>
  );
}
