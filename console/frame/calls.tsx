// The calls of the API that this tab has made, as curl lines.
import { calls } from '../api.js';
import { Window } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { useStore } from '../store.js';
import { texts } from '../texts.js';

export function Calls({ onClose }: { onClose: () => void }) {
  const made = useStore(calls);
  return (
    <Window title={texts.frame.calls} onClose={onClose} wide>
      <p className="hint">{texts.frame.callsHint}</p>
      <ol className="calls">
        {made.map(({ id, method, path, status, ms, curl }) => (
          <li key={id}>
            <details open={id === made[0]?.id}>
              <summary>
                {texts.frame.call(method, path.split('?')[0] ?? '')} <span>{texts.frame.callTook(status, ms)}</span>
              </summary>
              <pre>{curl}</pre>
              <Button onPress={() => navigator.clipboard.writeText(curl)}>{texts.frame.copy}</Button>
            </details>
          </li>
        ))}
      </ol>
      <div className="row end">
        <Button onPress={onClose}>{texts.frame.close}</Button>
      </div>
    </Window>
  );
}
