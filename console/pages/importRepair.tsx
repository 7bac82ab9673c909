// The failed rows of an import, corrected in place and sent again.
import type { components } from '../../sdk/index.js';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { parseCsv, separatorOf } from '../csv.js';
import { keyOf } from '../keyedAction.js';
import { language } from '../language.js';
import { Window } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { Failure } from '../parts/page.js';
import { texts } from '../texts.js';
import { guardedFile, plainRows, wrongTitles } from './importFile.js';
import { sendFile } from './importUpload.js';

const said = texts.imports;

export function Repair({ batch, onClose }: { batch: components['schemas']['Batch']; onClose: () => void }) {
  const [rows, setRows, clear] = useDraft<string[][] | null>(`repair:${batch.id}`, null);
  const failed = useRead(['failed-rows', batch.id], async () => {
    const params = { path: { id: batch.id }, query: { language } };
    const text = await data(api.GET('/merchants/me/batches/{id}/errors.csv', { params }));
    const separator = separatorOf(text);
    return { separator, table: plainRows(parseCsv(text, separator)) };
  });
  const { separator = ',', table: [titles = [], ...found] = [] } = failed.data ?? {};
  const own = titles
    .map((title, index) => [title, index] as const)
    .slice(1, -1)
    .filter(([title]) => title.trim() !== '');
  const now = rows ?? found;
  const again = useAction(
    () => {
      const text = guardedFile([titles, ...now], separator);
      const file = new Blob([text]);
      const { programId = '', quiet = false, mapping = {} } = batch;
      const upload = { programId, file, fileName: 'repaired.csv', charset: 'utf-8', dryRun: false, quiet, mapping };
      return sendFile({ ...upload, repairs: batch.id, key: keyOf(['repair', batch.id, text]) }, () => undefined);
    },
    {
      changes: ['batches'],
      said: said.startedNow,
      onDone() {
        clear();
        onClose();
      },
    },
  );
  return (
    <Window title={said.repair} onClose={onClose} wide>
      <p className="hint">{said.repairHint}</p>
      <Failure error={failed.error} />
      {now.map((row, number_) => {
        const reason = row.at(-1) ?? '';
        const wrong = wrongTitles(
          reason,
          own.map(([title]) => title),
        );
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows are neither added nor moved
          <fieldset className="list" key={number_}>
            <legend>{reason}</legend>
            <div className="fields">
              {own.map(([title, column]) => (
                <label className="field" key={column}>
                  {title}
                  <input
                    value={row[column] ?? ''}
                    aria-invalid={wrong.includes(title)}
                    onChange={({ target }) =>
                      setRows(now.map((one, other) => (other === number_ ? one.with(column, target.value) : one)))
                    }
                  />
                </label>
              ))}
            </div>
          </fieldset>
        );
      })}
      <div className="row end">
        <Button onPress={onClose}>{texts.frame.cancel}</Button>
        <Button kind="primary" isDisabled={again.isRunning || now.length === 0} onPress={() => again.run()}>
          {said.sendAgain}
        </Button>
      </div>
    </Window>
  );
}
