// What a publication will do, to be confirmed, and the update of the cards that follows it.
import { LoyaltyError } from '../../sdk/index.js';
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { changedField } from '../changedFields.js';
import type { Json } from '../merge.js';
import { Confirm } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { Facts, Failure, number, Panel, Progress, Technical } from '../parts/page.js';
import { inLanguage } from '../refusals.js';
import { texts } from '../texts.js';

const said = texts.design;

export function Publication(props: {
  id: string;
  program: Json;
  isRunning: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { id, program, ...dialog } = props;
  const effect = useRead(['publication', id, props.isRunning], () =>
    data(api.GET('/merchants/me/programs/{id}/publish-preview', { params: { path: { id } } })),
  );
  const { passes = 0, full = 0, overFull = 0, tierMoves = 0, rewardsLost = 0 } = effect.data ?? {};
  const { complete = true, counted = 0, findings = [] } = effect.data ?? {};
  return (
    <Confirm title={said.publishTitle} action={said.publish} {...dialog}>
      <Failure error={effect.error} />
      {effect.data && (
        <>
          <p>{said.willChange(passes)}</p>
          {findings.map(inLanguage).map(({ path, message }) => (
            <p key={path} className="hint">
              {texts.frame.wrong(changedField('program', path).label ?? path, message)}
            </p>
          ))}
          {counted > 0 && (
            <Facts
              facts={[
                [said.passes, number(passes)],
                ...(program.goal === undefined
                  ? []
                  : ([
                      [said.full, number(full)],
                      [said.overFull, number(overFull)],
                    ] as const)),
                [said.rewardsLost, number(rewardsLost)],
                ...(program.style === 'tiered' ? ([[said.tierMoves, number(tierMoves)]] as const) : []),
              ]}
            />
          )}
          {!complete && <p className="hint">{said.counted(counted)}</p>}
        </>
      )}
    </Confirm>
  );
}

const ended = ['completed', 'failed', 'cancelled'];

export function Rebuild({ batchId, onDone }: { batchId: string; onDone: () => void }) {
  const batch = useRead(
    ['batch', batchId],
    () => data(api.GET('/merchants/me/batches/{id}', { params: { path: { id: batchId } } })),
    { everyMs: (now) => (now && ended.includes(now.phase) ? false : 1_000) },
  );
  const { phase, percent = 0, counts, reason } = batch.data ?? {};
  const isOver = phase !== undefined && ended.includes(phase);
  return (
    <Panel title={said.rebuild} actions={isOver ? <Button onPress={onDone}>{texts.frame.close}</Button> : undefined}>
      <Failure error={batch.error instanceof LoyaltyError && batch.error.status === 404 ? null : batch.error} />
      <Progress label={said.rebuild} percent={percent} />
      {counts && <p className="hint">{said.rebuilt(counts.created, counts.total, texts.phases[phase ?? 'queued'])}</p>}
      {phase === 'failed' && <p className="hint">{texts.imports.endedByError}</p>}
      {reason && <Technical isOpen={phase !== 'failed'}>{reason}</Technical>}
    </Panel>
  );
}
