// Finds a card: by camera, scanner or typing.
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useStore } from '../store.js';
import { startCamera } from './camera.js';
import { Title } from './parts.js';
import { programOf, type TillState } from './state.js';
import { type Candidate, nameOf } from './taps.js';
import { texts } from './texts.js';
import type { Till } from './till.js';

const cameraSetting = 'till-camera';

function Camera({ onCode, onRefused }: { onCode: (code: string) => void; onRefused: () => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const latest = useRef({ onCode, onRefused });
  latest.current = { onCode, onRefused };
  useEffect(() => {
    if (!video.current) return;
    return startCamera(video.current, {
      onCode: (code) => latest.current.onCode(code),
      onRefused: () => latest.current.onRefused(),
    });
  }, []);
  return <video ref={video} aria-label={texts.find.view} muted playsInline />;
}

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

export function Find({ till, onCode }: { till: Till; onCode: (code: string) => void }) {
  const { device, isFinding, problem, choices } = useStore(till.state);
  const [text, setText] = useState('');
  const [camera, setCamera] = useState(localStorage.getItem(cameraSetting) ?? 'off');
  const findsPeople = (device?.hello?.lookupBy.length ?? 0) > 0;
  const switchCamera = (to: string): void => {
    setCamera(to);
    // A camera that was refused once may be allowed at the next start.
    localStorage.setItem(cameraSetting, to === 'refused' ? 'on' : to);
  };
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
      <div className="card">
        {camera === 'on' && <Camera onCode={onCode} onRefused={() => switchCamera('refused')} />}
        {camera === 'refused' && <p role="alert">{texts.find.refused}</p>}
        <button type="button" onClick={() => switchCamera(camera === 'on' ? 'off' : 'on')}>
          {camera === 'on' ? texts.find.cameraOff : texts.find.camera}
        </button>
      </div>
    </div>
  );
}
