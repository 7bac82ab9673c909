// Finds a card by typing, and offers the camera.
import { type FormEvent, type ReactNode, useState } from 'react';
import { isolated } from '../isolating.js';
import { useStore } from '../store.js';
import { Title } from './parts.js';
import { programOf, type TillState } from './state.js';
import { type Candidate, nameOf } from './taps.js';
import { texts } from './texts.js';
import type { Till } from './till.js';

/** Where this device keeps whether the camera is on. */
export const cameraSetting = 'till-camera';

/** What tells one card from another: people of the same name have numbers that end otherwise. */
function labelOf(person: Candidate, state: TillState): string {
  const { memberCode, firstName } = person;
  const code = state.choices?.areReadings ? memberCode : `…\u2060${memberCode.slice(-4)}`;
  const program = programOf(state, person.programId)?.name;
  return [nameOf(person), program, firstName ? code : undefined]
    .filter((part) => part !== undefined)
    .map(isolated)
    .join(' · ');
}

function Choices({ till }: { till: Till }) {
  const state = useStore(till.state);
  return (
    <div className="card">
      <Title as="h2">{texts.choose.whose}</Title>
      {state.choices?.areReadings && <p>{texts.choose.readings}</p>}
      {state.choices?.candidates.map((person) => (
        <button
          key={person.memberCode}
          type="button"
          onClick={() => void till.find([person.memberCode], person.programId)}
        >
          {labelOf(person, state)}
        </button>
      ))}
    </div>
  );
}

interface FindProps {
  till: Till;
  camera: ReactNode;
  /** What became of the last scan. */
  notice: ReactNode;
}

export function Find({ till, camera, notice }: FindProps) {
  const { device, isFinding, problem, choices } = useStore(till.state);
  const [text, setText] = useState('');
  const findsPeople = (device?.hello?.lookupBy.length ?? 0) > 0;
  const find = (event: FormEvent): void => {
    event.preventDefault();
    if (text.trim()) void till.find([text.trim()]);
  };
  const problemText = problem?.code === 'OFFLINE' ? texts.find.offline : (problem?.text ?? texts.find.unknown);
  return (
    <div className="find">
      <div className="card">
        <Title>{texts.find.title}</Title>
        <p>{texts.find.hint}</p>
        {camera}
        {notice}
      </div>
      <div className="typed">
        {choices && <Choices till={till} />}
        <form className="card" onSubmit={find}>
          <label htmlFor="card">{findsPeople ? texts.find.labelMore : texts.find.label}</label>
          <input
            id="card"
            value={text}
            onChange={(event) => setText(event.target.value)}
            autoCapitalize="characters"
            autoComplete="off"
            enterKeyHint="search"
            spellCheck={false}
          />
          <p className="problem" role="alert">
            {problem && problemText}
          </p>
          <button type="submit">{isFinding ? texts.find.looking : texts.find.button}</button>
        </form>
      </div>
    </div>
  );
}
