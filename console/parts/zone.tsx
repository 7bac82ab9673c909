// A time zone, typed or chosen among those that the browser knows.
import { type ComponentProps, useId } from 'react';
import { TextInput } from './form.js';

const zones: readonly string[] = Intl.supportedValuesOf?.('timeZone') ?? [];

export function ZoneInput(
  field: Pick<ComponentProps<typeof TextInput>, 'name' | 'label' | 'hint' | 'value' | 'onChange'>,
) {
  const id = useId();
  return (
    <>
      <TextInput {...field} list={id} />
      <datalist id={id}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}
