// The merchant's programs, and a new one by its name and style.
import { useState } from 'react';
import { useLocation } from 'wouter';
import { type components, LoyaltyError } from '../../sdk/index.js';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { language } from '../language.js';
import { controlsOf, Form, Select, Submit, TextInput } from '../parts/form.js';
import { Badge, Failure, number, Page } from '../parts/page.js';
import { isTyped, OpenPanel, SidePanel } from '../parts/sidePanel.js';
import { RowLink, Table } from '../parts/table.js';
import { findingsOf } from '../refusals.js';
import { optionsOf, texts } from '../texts.js';

const said = texts.programs;
type Style = components['schemas']['Program']['style'];

const { points, stamps, bronze, silver, gold } = said.beginnings;

/** The content of a new program, which can be published unchanged. */
const beginnings = {
  points: { fields: { primaryLabel: points }, goal: 100 },
  stamps: { fields: { primaryLabel: stamps }, goal: 10 },
  tiered: {
    fields: { primaryLabel: points },
    goal: 500,
    tiers: [
      { name: bronze, threshold: 0 },
      { name: silver, threshold: 200 },
      { name: gold, threshold: 1_000 },
    ],
  },
};

const slugOf = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 50) || 'program';

/** Hours, days and places count by the clock of the place where the card is made. */
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

const isZoneUnknown = (error: unknown): boolean =>
  error instanceof LoyaltyError && findingsOf(error).some(({ path }) => path === 'timeZone');

/**
 * In the language of the screen, with its name as a slug, which gets a few more letters when it is taken. Without a
 * time zone when the service does not know that of the browser.
 */
async function create({ name, style }: { name: string; style: Style }) {
  const body = { name, style, language, ...beginnings[style] };
  const makeIn = (zone: Partial<{ timeZone: string }>, slug: string) =>
    data(api.POST('/merchants/me/programs', { body: { ...body, ...zone, slug } }));
  const make = (slug: string) =>
    makeIn({ timeZone }, slug).catch((error: unknown) => {
      if (!isZoneUnknown(error)) throw error;
      return makeIn({}, slug);
    });
  return make(slugOf(name)).catch((error: { code?: string }) => {
    if (error.code !== 'SLUG_TAKEN') throw error;
    return make(`${slugOf(name)}-${crypto.randomUUID().slice(0, 4)}`);
  });
}

const blank = { name: '', style: 'stamps' as Style };

export function Programs() {
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const [, go] = useLocation();
  const [draft, setDraft, clear] = useDraft('new-program', blank);
  const [isNew, setIsNew] = useState(false);
  const of = controlsOf(draft, setDraft);
  const creation = useAction(create, {
    changes: ['programs'],
    said: (program) => (program.timeZone === undefined ? said.inUtc : undefined),
    onDone(program) {
      clear();
      go(`/programs/${program._id}`);
    },
  });
  return (
    <Page
      title={texts.nav.programs}
      lead={said.lead}
      actions={<OpenPanel title={said.create} needs="merchants.programs:edit" onPress={() => setIsNew(true)} />}
    >
      <Failure error={programs.error} />
      <Table
        name={texts.nav.programs}
        rows={programs.data}
        keyOf={({ _id }) => _id}
        empty={said.none}
        columns={[
          {
            title: said.program,
            cell: ({ _id, name }) => <RowLink to={`/programs/${_id}`}>{name}</RowLink>,
            sort: ({ name }) => name,
          },
          { title: said.style, cell: ({ style }) => said.styles[style], sort: ({ style }) => said.styles[style] },
          { title: said.unit, cell: ({ fields }) => fields.primaryLabel, sort: ({ fields }) => fields.primaryLabel },
          {
            title: said.goal,
            numeric: true,
            cell: ({ goal }) => (goal === undefined ? texts.frame.none : number(goal)),
            sort: ({ goal }) => goal,
          },
          { title: said.version, numeric: true, cell: ({ version }) => version, sort: ({ version }) => version },
          {
            title: said.state,
            cell: ({ archived }) =>
              archived ? <Badge kind="wait">{said.archived}</Badge> : <Badge kind="good">{said.open}</Badge>,
          },
        ]}
      />
      {isNew && (
        <SidePanel title={said.create} isUnsaved={isTyped(draft, blank)} onClose={() => setIsNew(false)}>
          <Form label={said.create} findings={creation.findings} onSubmit={() => creation.run(draft)}>
            <TextInput {...of('name')} label={said.name} />
            <Select {...of('style')} label={said.style} options={optionsOf(said.styles)} />
            <div>
              <Submit isRunning={creation.isRunning}>{texts.frame.create}</Submit>
            </div>
          </Form>
        </SidePanel>
      )}
    </Page>
  );
}
