// The poster for the counter: a download in three formats, as a PDF to print or as a picture.
import { useState } from 'react';
import { LoyaltyError } from '../../sdk/index.js';
import { useAction } from '../actions.js';
import { api, data } from '../api.js';
import { at, type Json } from '../merge.js';
import { Button, Select } from '../parts/form.js';
import { Panel } from '../parts/page.js';
import { optionsOf, texts } from '../texts.js';

const said = texts.counterPoster;
/** Where the page of a program leads to. */
export const posterId = 'counter-poster';

type Format = keyof typeof said.formats;

/** As a link with `download` does, for a file that the page has. */
function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Throws with the letters that the fonts lack. */
function sayLetters(error: unknown): never {
  if (!(error instanceof LoyaltyError) || error.code !== 'POSTER_LETTERS_MISSING') throw error;
  const { letters = [] } = Object(error.details);
  throw new Error(said.lettersMissing(letters.join(' ')));
}

/** Downloads the poster of a live program. */
export const usePoster = (id: string, slug: string) =>
  useAction(
    ({ format, type }: { format: Format; type: 'pdf' | 'png' }) => {
      const params = { path: { id }, query: { format, type } };
      return data(api.GET('/merchants/me/programs/{id}/poster', { params })).then(
        (file) => save(file, `${slug}-${format}.${type}`),
        sayLetters,
      );
    },
    { said: said.saved },
  );

/** `notBecause`: why there is no poster. */
export function ProgramPoster({ id, slug, notBecause }: { id: string; slug: string; notBecause: string | undefined }) {
  const [format, setFormat] = useState<Format>('a4');
  const draw = usePoster(id, slug);
  const isOff = notBecause !== undefined || draw.isRunning;
  return (
    <Panel title={said.title}>
      <p id={posterId} className="hint" tabIndex={-1}>
        {said.hint}
      </p>
      {notBecause && <p className="hint">{notBecause}</p>}
      <div className="fields">
        <Select
          name="posterFormat"
          label={said.format}
          value={format}
          onChange={setFormat}
          options={optionsOf(said.formats)}
          isDisabled={isOff}
        />
      </div>
      <div className="row">
        <Button kind="primary" isDisabled={isOff} onPress={() => draw.run({ format, type: 'pdf' })}>
          {said.pdf}
        </Button>
        <Button isDisabled={isOff} onPress={() => draw.run({ format, type: 'png' })}>
          {said.png}
        </Button>
      </div>
    </Panel>
  );
}

/** Why the saved program has no poster; the service also knows of a page that is live and differs. */
export function noPosterBecause({ archived, liveVersion, version, enrollment }: Json): string | undefined {
  if (liveVersion === null) return texts.counterPoster.neverPublished;
  if (archived) return texts.counterPoster.archived;
  const isShown = liveVersion === undefined || version === liveVersion;
  const isClosed = isShown && at({ enrollment }, 'enrollment.open') === false;
  return isClosed ? texts.counterPoster.closed : undefined;
}
