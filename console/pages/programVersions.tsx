// The published versions of a program, what each changed, and the return to one of them.
import { useAction, useRead } from '../actions.js';
import { api, data } from '../api.js';
import type { Json } from '../merge.js';
import { Button } from '../parts/form.js';
import { Address, Badge, Failure, Moment, Panel } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { Changes } from '../parts/value.js';
import { texts } from '../texts.js';
import { useNames } from './people.js';

const said = texts.design;

/** The fields of a program that no edit changes. */
const fixed = ['_id', 'version', 'liveVersion', 'archived', 'merchantId'];
export const contentOf = (program: Json): Json =>
  Object.fromEntries(Object.entries(program).filter(([key]) => !fixed.includes(key)));

export function Versions({ id, onGoBack }: { id: string; onGoBack: (program: Json) => void }) {
  const nameOf = useNames();
  const versions = useRead(['versions', id], () =>
    data(api.GET('/merchants/me/programs/{id}/versions', { params: { path: { id }, query: { pageSize: 50 } } })),
  );
  const open = useAction(
    (version: number) =>
      data(
        api.GET('/merchants/me/programs/{id}/versions/{version}', {
          params: { path: { id, version: String(version) } },
        }),
      ),
    { onDone: ({ program }) => onGoBack(contentOf(program as Json)) },
  );
  return (
    <Panel title={said.versions}>
      <Failure error={versions.error} />
      <p className="hint">{said.versionsHint}</p>
      <Table
        name={said.versions}
        rows={versions.data?.items}
        keyOf={({ version }) => String(version)}
        empty={said.noVersions}
        columns={[
          {
            title: texts.programs.version,
            cell: ({ version, live }) => (
              <>
                {version} {live && <Badge kind="good">{said.isLive}</Badge>}
              </>
            ),
          },
          { title: texts.programs.program, cell: ({ name }) => name },
          { title: said.publishedAt, cell: ({ publishedAt }) => <Moment at={publishedAt} /> },
          {
            title: said.publishedBy,
            cell: ({ publishedBy }) => (publishedBy ? <Address>{nameOf(publishedBy)}</Address> : texts.frame.none),
          },
          {
            title: texts.audit.fields,
            cell: ({ changes = [] }) =>
              changes.length > 0 ? <Changes kind="program" changes={changes} /> : texts.frame.none,
          },
          {
            title: texts.frame.actions,
            cell: ({ version }) => (
              <Button kind="link" aria-label={said.goBackTo(version)} onPress={() => open.run(version)}>
                {said.goBack}
              </Button>
            ),
          },
        ]}
      />
    </Panel>
  );
}
