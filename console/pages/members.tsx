// Members: search as one types, and a new member.
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { components } from '../../sdk/index.js';
import { useDraft, useRead, useSettled } from '../actions.js';
import { api, apiUrl, data } from '../api.js';
import { isSearchKept, noteSearch } from '../forget.js';
import { useKeyedAction } from '../keyedAction.js';
import { controlsOf, Form, Select, Submit, TextInput } from '../parts/form.js';
import { Address, Ago, Badge, Failure, Fold, number, Page } from '../parts/page.js';
import { isTyped, OpenPanel, SidePanel } from '../parts/sidePanel.js';
import { PagedTable, RowLink, useFilters } from '../parts/table.js';
import { texts } from '../texts.js';

const said = texts.members;
const typingMs = 200;
export const audiences = ['', 'today', 'returning', 'rewarded', 'joined', 'nearlyFull', 'away'] as const;

type Status = components['schemas']['Member']['status'];
const kinds = { active: 'good', voided: 'bad', expired: 'wait' } as const;

export function StatusBadge({ status }: { status: Status }) {
  return <Badge kind={kinds[status]}>{said.statuses[status]}</Badge>;
}

export const nameOf = ({
  firstName,
  lastName,
  memberCode,
}: {
  firstName?: string;
  lastName?: string;
  memberCode: string;
}) => [firstName, lastName].filter(Boolean).join(' ') || memberCode;

export function Members() {
  const [params, put] = useFilters();
  const [isNew, setIsNew] = useState(false);
  const addressed = params.get('q') ?? '';
  const [q, setQ] = useState(() => (isSearchKept(addressed) ? addressed : ''));
  const programId = params.get('programId') ?? '';
  const serial = useSettled(params.get('serial') ?? '', typingMs).trim();
  const page = Number(params.get('page')) || 1;
  const words = useSettled(q, typingMs).trim();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address follows the words, also after the browser's Back
  useEffect(() => {
    noteSearch(words);
    if (words !== addressed) put('q', words);
  }, [words, addressed]);
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const asked = params.get('audience') ?? '';
  const audience = audiences.find((one) => one === asked) ?? '';
  const filters = {
    ...(words && { q: words }),
    ...(serial && { serial }),
    ...(programId && { programId }),
    ...(audience && { audience }),
  };
  const query = { page, ...filters };
  const members = useRead(['members', query], () => data(api.GET('/merchants/me/members', { params: { query } })), {
    keep: true,
  });
  const options = [
    ['', said.allPrograms],
    ...(programs.data ?? []).map(({ _id, name }) => [_id, name] as const),
  ] as const;
  return (
    <Page
      title={texts.nav.members}
      actions={<OpenPanel title={said.enroll} needs="merchants.members:create" onPress={() => setIsNew(true)} />}
    >
      <search className="fields">
        <TextInput name="q" type="search" label={said.search} hint={said.searchHint} value={q} onChange={setQ} />
        <Fold title={texts.frame.filters}>
          <Select
            name="programId"
            label={said.program}
            value={programId}
            options={options}
            onChange={(value) => put('programId', value)}
          />
          <Select
            name="audience"
            label={said.audience}
            value={audience}
            options={audiences.map((one) => [one, said.audiences[one]])}
            onChange={(value) => put('audience', value)}
          />
          <TextInput
            name="serial"
            label={said.cardNumber}
            hint={said.cardNumberHint}
            value={params.get('serial') ?? ''}
            onChange={(value) => put('serial', value)}
          />
        </Fold>
      </search>
      <Failure error={members.error} />
      {members.data && (
        <p className="hint" role="status">
          {said.found(members.data.total)}
        </p>
      )}
      {members.data && members.data.total > 0 && (
        <a href={`${apiUrl}/merchants/me/members.csv?${new URLSearchParams(filters)}`} download>
          {said.download}
        </a>
      )}
      <PagedTable
        name={texts.nav.members}
        data={members.data}
        onPage={(next) => put('page', String(next))}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.person, cell: (member) => <RowLink to={`/members/${member.id}`}>{nameOf(member)}</RowLink> },
          { title: said.email, cell: ({ email }) => (email ? <Address>{email}</Address> : texts.frame.none) },
          { title: said.code, cell: ({ memberCode }) => <code>{memberCode}</code> },
          { title: said.program, cell: ({ program }) => program.name },
          { title: said.balance, numeric: true, cell: ({ balance }) => number(balance) },
          { title: said.status, cell: ({ status }) => <StatusBadge status={status} /> },
          { title: said.lastVisit, cell: ({ lastVisitAt }) => <Ago at={lastVisitAt} dayOnly /> },
          { title: said.since, cell: ({ createdAt }) => <Ago at={createdAt} dayOnly /> },
        ]}
      />
      {isNew && (
        <Enroll programs={(programs.data ?? []).filter(({ archived }) => !archived)} onClose={() => setIsNew(false)} />
      )}
    </Page>
  );
}

const nobody = { programId: '', firstName: '', lastName: '', email: '' };

interface EnrollProps {
  programs: readonly { _id: string; name: string }[];
  onClose: () => void;
}

function Enroll({ programs, onClose }: EnrollProps) {
  const [, go] = useLocation();
  const [draft, setDraft, clear] = useDraft('new-member', nobody);
  const programId = draft.programId || programs[0]?._id || '';
  const enroll = useKeyedAction(
    ({ firstName, lastName, email }: typeof nobody, keyed) => {
      const body = {
        programId,
        ...(firstName && { firstName }),
        ...(lastName && { lastName }),
        ...(email && { email }),
      };
      return data(api.POST('/merchants/me/members', { params: { header: keyed('enroll', body) }, body }));
    },
    {
      changes: ['members'],
      said: ({ deduped }) => (deduped ? said.known : said.enrolled),
      onDone({ id }) {
        clear();
        go(`/members/${id}`);
      },
    },
  );
  const of = controlsOf(draft, setDraft);
  return (
    <SidePanel title={said.enroll} isUnsaved={isTyped(draft, nobody)} onClose={onClose}>
      <Form label={said.enroll} findings={enroll.findings} onSubmit={() => enroll.run(draft)}>
        <Select
          {...of('programId')}
          value={programId}
          label={said.into}
          options={programs.map(({ _id, name }) => [_id, name])}
        />
        <TextInput {...of('firstName')} label={said.firstName} />
        <TextInput {...of('lastName')} label={said.lastName} />
        <TextInput {...of('email')} label={said.email} />
        <div>
          <Submit isRunning={enroll.isRunning}>{texts.frame.create}</Submit>
        </div>
      </Form>
    </SidePanel>
  );
}
