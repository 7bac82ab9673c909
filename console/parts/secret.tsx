// A secret that is shown once.
import { texts } from '../texts.js';
import { Window } from './dialog.js';
import { Button } from './form.js';

export function Secret({
  title,
  hint,
  value,
  onClose,
}: {
  title: string;
  hint: string;
  value: string;
  onClose: () => void;
}) {
  return (
    <Window title={title}>
      <p>{hint}</p>
      <pre>{value}</pre>
      <div className="row end">
        <Button onPress={() => navigator.clipboard.writeText(value)}>{texts.frame.copy}</Button>
        <Button kind="primary" onPress={onClose}>
          {texts.frame.stored}
        </Button>
      </div>
    </Window>
  );
}
