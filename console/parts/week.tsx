// The opening hours of each weekday.
import { useId } from 'react';
import { weekdayTitle } from '../texts.js';
import { TextInput, useFindings } from './form.js';

const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

export type Hours = Readonly<Record<string, string>>;

interface WeekProps {
  name: string;
  label: string;
  hint?: string;
  value: Hours;
  onChange: (next: Hours | undefined) => void;
}

export function Week({ name, label, hint, value, onChange }: WeekProps) {
  const { warning } = useFindings(name);
  const hintId = useId();
  const put = (day: string, hours: string) => {
    const { [day]: _, ...others } = value;
    const next = hours === '' ? others : { ...others, [day]: hours };
    onChange(Object.keys(next).length === 0 ? undefined : next);
  };
  return (
    <fieldset className="list" aria-describedby={hintId}>
      <legend>{label}</legend>
      <div id={hintId}>
        {hint !== undefined && <p className="hint">{hint}</p>}
        {warning !== undefined && <p className="hint warning">{warning}</p>}
      </div>
      <div className="fields">
        {days.map((day, at) => (
          <TextInput
            key={day}
            name={`${name}.${day}`}
            label={weekdayTitle(at)}
            value={value[day] ?? ''}
            onChange={(hours) => put(day, hours)}
          />
        ))}
      </div>
    </fieldset>
  );
}
