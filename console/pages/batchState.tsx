// How far a batch of any kind is, why it ended early, and the button that cancels it.
import type { components } from '../../sdk/index.js';
import { useAction } from '../actions.js';
import { api, data } from '../api.js';
import { Button } from '../parts/form.js';
import { Badge, Progress, Technical } from '../parts/page.js';
import { may, type Permission } from '../session.js';
import { texts } from '../texts.js';
import type { Bar } from './importBars.js';

const said = texts.imports;
type Batch = components['schemas']['Batch'];

const ended = ['completed', 'failed', 'cancelled'];
export const isOver = ({ phase }: Pick<Batch, 'phase'>): boolean => ended.includes(phase);

const phaseKinds: Partial<Record<Batch['phase'], 'good' | 'bad'>> = {
  completed: 'good',
  failed: 'bad',
  cancelled: 'bad',
};

interface StateProps {
  batch: Pick<Batch, 'phase' | 'percent' | 'reason' | 'cancelRequested'>;
  bars?: readonly Bar[];
  /** What a batch that has done everything still does before it ends. */
  finishing?: string;
  /** Why it ended early, in the language of the screen; without it what its phase says. */
  reason?: string | undefined;
}

export function State({ batch, bars, finishing, reason }: StateProps) {
  const shown = bars ?? [{ label: said.progress, percent: batch.percent }];
  const isCancelling = batch.cancelRequested === true && !isOver(batch);
  const finishes = finishing !== undefined && !isOver(batch) && batch.percent >= 100;
  return (
    <>
      <Badge kind={phaseKinds[batch.phase] ?? 'wait'}>
        {isCancelling ? said.cancelling : texts.phases[batch.phase]}
      </Badge>{' '}
      {finishes && <span className="hint">{finishing}</span>}
      {!isOver(batch) &&
        batch.phase !== 'scheduled' &&
        !finishes &&
        shown.map(({ label, percent }) => (
          <div key={label}>
            {bars && <span className="hint">{label}</span>}
            <Progress label={label} percent={percent} />
          </div>
        ))}
      {reason && <span className="hint">{reason}</span>}
      {reason === undefined && batch.phase === 'failed' && (
        <>
          <span className="hint">{said.endedByError}</span>
          {batch.reason && <Technical>{batch.reason}</Technical>}
        </>
      )}
    </>
  );
}

export function CancelBatch({
  batch: { id, cancelRequested },
  needs,
}: {
  batch: Pick<Batch, 'id' | 'cancelRequested'>;
  needs: Permission;
}) {
  const cancel = useAction(() => data(api.POST('/merchants/me/batches/{id}/cancel', { params: { path: { id } } })), {
    changes: ['batches', 'batch', 'campaigns'],
    said: said.cancelled,
  });
  return (
    <Button isDisabled={cancel.isRunning || cancelRequested === true || !may(needs)} onPress={() => cancel.run()}>
      {texts.frame.cancel}
    </Button>
  );
}
