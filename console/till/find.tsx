// Finds a card by typing, and offers the camera.
import { type FormEvent, type ReactNode, useState } from 'react';
import { useStore } from '../store.js';
import { Title } from './parts.js';
import { programOf, type TillState } from './state.js';
import { type Candidate, nameOf } from './taps.js';
import { texts } from './texts.js';
import type { Till } from './till.js';

/** Where this device keeps whether the camera is on. */
export const cameraSetting = 'till-camera';

/** What tells one card from another. */
function labelOf(person: Candidate, state: TillState): string {
  const code = state.choices?.areReadings && person.firstName ? person.memberCode : undefined;
  const program = programOf(state, person.programId)?.name;
  return [nameOf(person), code, program].filter((part) => part !== undefined).join(' · ');
}

function Choices({ till }: { till: Till }) {
  const state = useStore(till.state);
  return (
    <div className="card">
      <h2>{texts.choose.whose}</h2>
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

export function Find({ till, camera }: { till: Till; camera: ReactNode }) {
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
      <form className="card" onSubmit={find}>
        <Title>{texts.find.title}</Title>
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
        <button type="submit" className="primary">
          {isFinding ? texts.find.looking : texts.find.button}
        </button>
        <p className="problem" role="alert">
          {problem && problemText}
        </p>
      </form>
      {choices && <Choices till={till} />}
      <div className="card">{camera}</div>
    </div>
  );
}
