// The readers: a new one with its pairing code, when each was last seen, and the taps that have not arrived.
import { useEffect, useState } from 'react';
import { notify, useAction, useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Confirm, Window } from '../parts/dialog.js';
import { Button, Form, Submit } from '../parts/form.js';
import { Ago, Badge, Failure, Page } from '../parts/page.js';
import { isTyped, OpenPanel, SidePanel } from '../parts/sidePanel.js';
import { PagedTable, usePage } from '../parts/table.js';
import { lacking } from '../session.js';
import { texts } from '../texts.js';
import {
  type Chosen,
  chosenOf,
  nothingChosen,
  type Reader,
  ReaderFields,
  readReaders,
  usePrograms,
} from './readerFields.js';
import { type Pairing, PairingWindow, pairingOf } from './readerPairing.js';

const said = texts.readers;
const followMs = 10_000;
const pairingMs = 3_000;
const changes = ['readers'];
/** Who makes a code could use it, so that both permissions are needed. */
const pairs = ['readers:edit', 'till:use'] as const;

export function Readers() {
  const [page, setPage] = usePage();
  const [isNew, setIsNew] = useState(false);
  const [pairing, setPairing] = useState<Pairing | null>(null);
  const readers = useRead(['readers', page], () => readReaders(page), {
    keep: true,
    everyMs: pairing ? pairingMs : followMs,
  });
  const [edited, setEdited] = useState<Reader | null>(null);
  const [asks, setAsks] = useState<Reader | null>(null);
  const newCode = useAction(
    (reader: Pairing['reader']) =>
      data(api.POST('/merchants/me/readers/{id}/pairing', { params: { path: { id: reader.id } } })),
    { changes, onDone: (code, reader) => setPairing(pairingOf(reader, code)) },
  );
  const revoke = useAction(
    ({ id }: Reader) => data(api.DELETE('/merchants/me/readers/{id}', { params: { path: { id } } })),
    { changes, said: said.revoked, onDone: () => setAsks(null) },
  );
  const before = pairing?.reader;
  const isPaired = readers.data?.items.some(({ id, pairedAt }) => id === before?.id && pairedAt !== before.pairedAt);
  useEffect(() => {
    if (!isPaired || !before) return;
    notify('done', said.isPaired(before.name));
    setPairing(null);
  }, [isPaired, before]);
  return (
    <Page
      title={texts.nav.readers}
      lead={said.lead}
      actions={<OpenPanel title={said.new} needs={pairs} onPress={() => setIsNew(true)} />}
    >
      <Failure error={readers.error} />
      <Missing readers={readers.data?.items ?? []} />
      <List
        readers={readers.data}
        onPage={setPage}
        onEdit={setEdited}
        onPair={(reader) => newCode.run(reader)}
        onRevoke={setAsks}
      />
      {isNew && (
        <NewReader
          onClose={() => setIsNew(false)}
          onMade={(made) => {
            setIsNew(false);
            // The newest reader is on the first page.
            if (page > 1) setPage(1);
            setPairing(made);
          }}
        />
      )}
      {pairing && (
        <PairingWindow
          key={pairing.pairingCode}
          pairing={pairing}
          isRunning={newCode.isRunning}
          onNewCode={() => newCode.run(pairing.reader)}
          onClose={() => setPairing(null)}
        />
      )}
      {edited && <Edit reader={edited} onClose={() => setEdited(null)} />}
      {asks && (
        <Confirm
          title={said.revokeNamed(asks.name)}
          action={said.revoke}
          kind="danger"
          isRunning={revoke.isRunning}
          onConfirm={() => revoke.run(asks)}
          onClose={() => setAsks(null)}
        >
          <p>{said.revokeHint}</p>
        </Confirm>
      )}
    </Page>
  );
}

function Missing({ readers }: { readers: readonly Reader[] }) {
  const overdue = readers.filter((reader) => reader.overdue > 0);
  return (
    <div role="status">
      {overdue.length > 0 && (
        <div className="banner failed">
          {overdue.map(({ id, name, overdue: taps }) => (
            <p key={id}>
              <strong>{said.missing(taps, name)}</strong>
            </p>
          ))}
          <p className="hint">{said.missingHint}</p>
        </div>
      )}
    </div>
  );
}

/** As the API takes it: what is not chosen is left out. */
const requestOf = ({ name, location, programIds, lookupBy }: Chosen) => ({
  name,
  ...(location && { location }),
  ...(programIds.length > 0 && { programIds }),
  lookupBy,
});

function NewReader({ onMade, onClose }: { onMade: (pairing: Pairing) => void; onClose: () => void }) {
  const [draft, setDraft, clear] = useDraft('new-reader', nothingChosen);
  const creation = useAction(() => data(api.POST('/merchants/me/readers', { body: requestOf(draft) })), {
    changes,
    onDone(made) {
      clear();
      onMade(pairingOf(made, made));
    },
  });
  return (
    <SidePanel title={said.new} isUnsaved={isTyped(draft, nothingChosen)} onClose={onClose}>
      <Form label={said.new} findings={creation.findings} onSubmit={() => creation.run()}>
        <ReaderFields value={draft} onChange={setDraft} />
        <div>
          <Submit isRunning={creation.isRunning}>{texts.frame.create}</Submit>
        </div>
      </Form>
    </SidePanel>
  );
}

function Edit({ reader, onClose }: { reader: Reader; onClose: () => void }) {
  const [chosen, setChosen] = useState(chosenOf(reader));
  const change = useAction(
    () => {
      const { name, location, programIds, lookupBy } = chosen;
      const body = {
        name,
        location: location || null,
        programIds: programIds.length > 0 ? programIds : null,
        lookupBy,
      };
      return data(api.PATCH('/merchants/me/readers/{id}', { params: { path: { id: reader.id } }, body }));
    },
    { changes, said: said.saved, onDone: onClose },
  );
  return (
    <Window title={said.editNamed(reader.name)} onClose={onClose}>
      <Form label={said.editNamed(reader.name)} findings={change.findings} onSubmit={() => change.run()}>
        <ReaderFields value={chosen} onChange={setChosen} />
        <div className="row end">
          <Button onPress={onClose}>{texts.frame.cancel}</Button>
          <Submit isRunning={change.isRunning}>{texts.frame.save}</Submit>
        </div>
      </Form>
    </Window>
  );
}

function StateBadge({ reader: { pairedAt, revokedAt } }: { reader: Reader }) {
  if (revokedAt) return <Badge kind="plain">{said.revokedState}</Badge>;
  return pairedAt ? <Badge kind="good">{said.paired}</Badge> : <Badge kind="wait">{said.unpaired}</Badge>;
}

interface ListProps {
  readers: Awaited<ReturnType<typeof readReaders>> | undefined;
  onPage: (page: number) => void;
  onEdit: (reader: Reader) => void;
  onPair: (reader: Reader) => void;
  onRevoke: (reader: Reader) => void;
}

function List({ readers, onPage, onEdit, onPair, onRevoke }: ListProps) {
  const programs = usePrograms();
  const namesOf = (ids: readonly string[]) =>
    ids.map((id) => programs.find(({ _id }) => _id === id)?.name ?? id).join(', ');
  return (
    <PagedTable
      name={texts.nav.readers}
      data={readers}
      onPage={onPage}
      keyOf={({ id }) => id}
      empty={said.none}
      columns={[
        { title: said.reader, cell: ({ name }) => name },
        { title: said.place, cell: ({ location }) => location ?? texts.frame.none },
        { title: said.state, cell: (reader) => <StateBadge reader={reader} /> },
        {
          title: said.lastSeen,
          cell: ({ lastSeenAt }) => (lastSeenAt ? <Ago at={lastSeenAt} /> : said.never),
        },
        { title: said.waiting, cell: ({ waiting }) => (waiting > 0 ? said.waits(waiting) : texts.frame.none) },
        { title: said.cards, cell: ({ programIds }) => (programIds ? namesOf(programIds) : said.allCards) },
        {
          title: texts.frame.actions,
          cell: (reader) =>
            reader.revokedAt === null && (
              <div className="row">
                <Button
                  isDisabled={lacking(...pairs) !== undefined}
                  aria-label={said.pairNamed(reader.name)}
                  onPress={() => onPair(reader)}
                >
                  {said.pair}
                </Button>
                <Button aria-label={said.editNamed(reader.name)} onPress={() => onEdit(reader)}>
                  {said.edit}
                </Button>
                <Button kind="danger" aria-label={said.revokeNamed(reader.name)} onPress={() => onRevoke(reader)}>
                  {said.revoke}
                </Button>
              </div>
            ),
        },
      ]}
    />
  );
}
