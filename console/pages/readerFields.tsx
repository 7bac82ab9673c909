// What is chosen of a reader: its name, place and programs, and how people without their card are found.
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Choices, controlsOf, TextInput } from '../parts/form.js';
import { optionsOf, texts } from '../texts.js';

const said = texts.readers;

export const readReaders = (page: number) => data(api.GET('/merchants/me/readers', { params: { query: { page } } }));
export type Reader = Awaited<ReturnType<typeof readReaders>>['items'][number];

export interface Chosen {
  name: string;
  location: string;
  /** None: all. */
  programIds: string[];
  lookupBy: Reader['lookupBy'];
}

export const nothingChosen: Chosen = { name: '', location: '', programIds: [], lookupBy: [] };

export const chosenOf = ({ name, location, programIds, lookupBy }: Reader): Chosen => ({
  name,
  location: location ?? '',
  programIds: programIds ?? [],
  lookupBy,
});

export const usePrograms = () => useRead(['programs'], () => data(api.GET('/merchants/me/programs'))).data ?? [];

export function ReaderFields({ value, onChange }: { value: Chosen; onChange: (value: Chosen) => void }) {
  const programs = usePrograms().filter(({ _id, archived }) => !archived || value.programIds.includes(_id));
  const of = controlsOf(value, onChange);
  return (
    <>
      <div className="fields">
        <TextInput {...of('name')} label={said.name} hint={said.nameHint} />
        <TextInput {...of('location')} label={said.place} hint={said.placeHint} />
      </div>
      {programs.length > 1 && (
        <Choices
          {...of('programIds')}
          label={said.programs}
          hint={said.programsHint}
          options={programs.map(({ _id, name }) => [_id, name])}
        />
      )}
      <Choices {...of('lookupBy')} label={said.lookupBy} hint={said.lookupHint} options={optionsOf(said.lookups)} />
    </>
  );
}
