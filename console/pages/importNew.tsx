// A new import: the file, what its columns are, a dry run, and the import itself.
import { useEffect, useState } from 'react';
import { DropZone, FileTrigger, Text } from 'react-aria-components';
import { useAction } from '../actions.js';
import { keyOf } from '../keyedAction.js';
import { Button, Checkbox, Form, Select } from '../parts/form.js';
import { Progress } from '../parts/page.js';
import { OpenPanel, SidePanel } from '../parts/sidePanel.js';
import { optionsOf, texts } from '../texts.js';
import { DryRun, ImportQuestion, isEmpty, LeftOutColumns } from './importDryRun.js';
import { canBeFound, fieldsOf, leftOutTitles, mappingOf, openTitles, undecided } from './importFile.js';
import { type Chosen, type DryRunShown, openFile, sendFile, withRows } from './importUpload.js';

const said = texts.imports;

/** How long an import whose answer was lost is the same import when it is begun again, and one that was answered. */
const [unansweredMs, sameMs] = [24 * 3_600_000, 60_000];

interface NewImportProps {
  programs: readonly { _id: string; name: string; style: string }[];
  onStarted: (batchId: string) => void;
}

export function NewImport({ programs, onStarted }: NewImportProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [picked, setProgramId] = useState('');
  const programId = picked || programs[0]?._id || '';
  const isStamps = programs.find(({ _id }) => _id === programId)?.style === 'stamps';
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [meant, setMeant] = useState<Record<string, string>>({});
  const [quiet, setQuiet] = useState(false);
  const [percent, setPercent] = useState(0);
  const [outcome, setOutcome] = useState<DryRunShown | null>(null);
  const [asks, setAsks] = useState(false);
  const open = openTitles(meant);
  const leftOut = leftOutTitles(meant);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was tried is another import then
  useEffect(() => setOutcome(null), [programId, chosen, meant]);
  const take = async (file: Blob | undefined, name: string) => {
    if (!file) return;
    const opened = await openFile(file, name);
    // Of the card that is shown now, also when the list of cards changes.
    setProgramId(programId);
    setChosen(opened);
    setMeant(fieldsOf(opened.titles));
  };
  const start = useAction(
    async ({ dryRun }: { dryRun: boolean; asks?: boolean }) => {
      if (!chosen) throw new Error(said.noFile);
      if (open.length > 0) throw new Error(said.undecided(open));
      const { id, file, charset, name: fileName } = chosen;
      const options = { programId, charset, quiet, mapping: mappingOf(meant) };
      const change = ['import', id, options];
      const keyed = dryRun ? {} : { key: keyOf(change, unansweredMs) };
      const answer = await sendFile({ file, fileName, dryRun, ...options, ...keyed }, setPercent);
      if (!dryRun) keyOf(change, sameMs);
      return 'id' in answer ? answer : withRows(file, answer);
    },
    {
      changes: ['batches'],
      said(answer, { asks: asksThen }) {
        if ('id' in answer) return said.startedNow;
        return asksThen && !isEmpty(answer) ? undefined : said.dryRunDone;
      },
      onDone(answer, { asks: asksThen = false }) {
        setAsks(asksThen && !('id' in answer) && !isEmpty(answer));
        if (!('id' in answer)) return setOutcome(answer);
        setChosen(null);
        setIsOpen(false);
        onStarted(answer.id);
      },
    },
  );
  const close = () => {
    if (start.isRunning) return;
    setAsks(false);
    setIsOpen(false);
  };
  return (
    <>
      <OpenPanel title={said.new} needs="merchants.members:create" onPress={() => setIsOpen(true)} />
      {isOpen && (
        // What was chosen stays while the page is open.
        <SidePanel title={said.new} wide isUnsaved={false} onClose={close}>
          <div className="fields">
            <Select
              name="programId"
              label={said.into}
              value={programId}
              options={programs.map(({ _id, name }) => [_id, name])}
              onChange={setProgramId}
              isDisabled={start.isRunning}
            />
            {chosen && (
              <Select
                name="charset"
                label={said.charset}
                value={chosen.charset}
                options={optionsOf(said.charsets)}
                onChange={(charset) => setChosen({ ...chosen, charset })}
                isDisabled={start.isRunning}
              />
            )}
          </div>
          <DropZone
            className="drop"
            aria-label={said.drop}
            isDisabled={start.isRunning}
            onDrop={async ({ items }) => {
              const item = items.find(({ kind }) => kind === 'file');
              if (item?.kind === 'file') await take(await item.getFile(), item.name);
            }}
          >
            <Text slot="label">{chosen ? chosen.name : said.drop}</Text>
            <FileTrigger
              acceptedFileTypes={['.csv', '.txt', '.tsv', 'text/csv']}
              onSelect={(files) => take(files?.[0], files?.[0]?.name ?? '')}
            >
              <Button isDisabled={start.isRunning}>{said.choose}</Button>
            </FileTrigger>
          </DropZone>
          {chosen && (
            <>
              <h3>{said.columns}</h3>
              <Form
                label={said.columns}
                className="fields"
                findings={open.map((title) => ({
                  path: `mapping.${chosen.titles.indexOf(title)}`,
                  message: meant[title] === undecided ? said.decide : said.twice,
                }))}
                onSubmit={() => start.run({ dryRun: true })}
              >
                {chosen.titles.map((title, at) => (
                  <Select
                    key={title}
                    name={`mapping.${at}`}
                    label={title}
                    value={meant[title] ?? ''}
                    options={[
                      ...(meant[title] === undecided ? [[undecided, said.undecidedField] as const] : []),
                      ...optionsOf({ ...said.fields, ...(isStamps && { initialPoints: said.stampsAtStart }) }),
                    ]}
                    onChange={(field) => setMeant({ ...meant, [title]: field })}
                    isDisabled={start.isRunning}
                  />
                ))}
              </Form>
              <LeftOutColumns columns={leftOut} />
              {leftOut.unknown.length > 0 && <p className="hint">{said.chooseField}</p>}
              <Checkbox label={said.quiet} isSelected={quiet} onChange={setQuiet} />
              <div className="row">
                <Button isDisabled={start.isRunning} onPress={() => start.run({ dryRun: true })}>
                  {said.dryRun}
                </Button>
                <Button
                  kind="primary"
                  isDisabled={start.isRunning || (outcome !== null && isEmpty(outcome))}
                  onPress={() => (outcome ? setAsks(true) : start.run({ dryRun: true, asks: true }))}
                >
                  {said.import}
                </Button>
              </div>
              {start.isRunning && <Progress label={said.upload} percent={percent} />}
              {outcome && <DryRun outcome={outcome} />}
              {asks && outcome && (
                <ImportQuestion
                  outcome={outcome}
                  columns={leftOut}
                  isFindable={canBeFound(meant)}
                  isRunning={start.isRunning}
                  onConfirm={() => start.run({ dryRun: false })}
                  onClose={() => setAsks(false)}
                />
              )}
            </>
          )}
        </SidePanel>
      )}
    </>
  );
}
