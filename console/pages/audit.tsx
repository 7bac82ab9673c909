// The audit: who did what, on what, from where, newest first.
import { useSearchParams } from 'wouter';
import { useRead, useSettled } from '../actions.js';
import { send } from '../api.js';
import { TextInput } from '../parts/form.js';
import { Failure, Moment, Page } from '../parts/page.js';
import { PagedTable } from '../parts/table.js';
import { texts } from '../texts.js';

const said = texts.audit;

interface Entry {
  id: string;
  createdAt: string;
  actor: { type: string; id: string; name?: string };
  action: string;
  targetId: string;
  fields?: string[];
  address: string | null;
  requestId: string | null;
}

interface Entries {
  items: Entry[];
  page: number;
  pageSize: number;
  total: number;
}

const filters = [
  ['actor', said.actor],
  ['action', said.action],
  ['targetId', said.target],
] as const;

export function Audit() {
  const [params, setParams] = useSearchParams();
  const query = useSettled(params.toString(), 250);
  const entries = useRead(['audit', query], () => send<Entries>('GET', `/merchants/me/audit?${query}`), { keep: true });
  const put = (key: string, value: string) =>
    setParams(
      (now) => {
        if (key !== 'page') now.delete('page');
        if (value) now.set(key, value);
        else now.delete(key);
        return now;
      },
      { replace: true },
    );
  return (
    <Page title={texts.nav.audit} lead={said.lead}>
      <search className="fields">
        {filters.map(([key, label]) => (
          <TextInput
            key={key}
            name={key}
            label={label}
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
          { title: said.actor, cell: ({ actor }) => said.by(actor.type, actor.name ?? actor.id) },
          { title: said.action, cell: ({ action }) => action },
          { title: said.target, cell: ({ targetId }) => <code>{targetId}</code> },
          { title: said.fields, cell: ({ fields = [] }) => fields.join(', ') },
          { title: said.address, cell: ({ address }) => address ?? texts.frame.none },
          { title: said.request, cell: ({ requestId }) => <code>{requestId}</code> },
        ]}
      />
    </Page>
  );
}
