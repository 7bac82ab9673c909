// The audit: who did what, on what, from where, newest first.
import { useRead, useSettled } from '../actions.js';
import { api, data } from '../api.js';
import { Select, TextInput } from '../parts/form.js';
import { Failure, Moment, Page } from '../parts/page.js';
import { PagedTable, useFilters } from '../parts/table.js';
import { texts } from '../texts.js';
import { useNames } from './people.js';

const said = texts.audit;

const readAudit = (query: Record<string, string>) => data(api.GET('/merchants/me/audit', { params: { query } }));
type Action = Awaited<ReturnType<typeof readAudit>>['items'][number]['action'];

/** Every action must have a name here to compile. */
const actions: Record<Action, string> = said.actions;

export function Audit() {
  const [params, put] = useFilters();
  const nameOf = useNames();
  const query = useSettled(params.toString(), 250);
  const entries = useRead(['audit', query], () => readAudit(Object.fromEntries(new URLSearchParams(query))), {
    keep: true,
  });
  return (
    <Page title={texts.nav.audit} lead={said.lead}>
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
            label={key === 'actor' ? said.actor : said.target}
            value={params.get(key) ?? ''}
            onChange={(value) => put(key, value)}
          />
        ))}
      </search>
      <Failure error={entries.error} />
      <PagedTable
        name={texts.nav.audit}
        data={entries.data}
        onPage={(page) => put('page', String(page))}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.when, cell: ({ createdAt }) => <Moment at={createdAt} /> },
          { title: said.actor, cell: ({ actor }) => said.by(actor.type, nameOf(actor)) },
          { title: said.action, cell: ({ action }) => actions[action] },
          { title: said.target, cell: ({ targetId }) => <code>{nameOf({ id: targetId })}</code> },
          { title: said.fields, cell: ({ fields = [] }) => fields.join(', ') },
          { title: said.address, cell: ({ address }) => address ?? texts.frame.none },
          { title: said.request, cell: ({ requestId }) => <code>{requestId}</code> },
        ]}
      />
    </Page>
  );
}
