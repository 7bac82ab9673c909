// Connects the device with the code that the console shows.
import { type FormEvent, useEffect, useState } from 'react';
import { useStore } from '../store.js';
import { Title } from './parts.js';
import { waitingOf } from './state.js';
import { texts } from './texts.js';
import type { Till } from './till.js';

/** The code of a link; it stands behind #, which no server sees. */
function takeLinkedCode(): string {
  const code = decodeURIComponent(location.hash.slice(1));
  if (code) history.replaceState(null, '', location.pathname);
  return code;
}

/** `onBack`: somebody is signed in and can go on without a code. */
export function Pair({ till, onBack }: { till: Till; onBack?: () => void }) {
  const state = useStore(till.state);
  const [code, setCode] = useState(takeLinkedCode);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const onLink = () => setCode(takeLinkedCode());
    window.addEventListener('hashchange', onLink);
    return () => window.removeEventListener('hashchange', onLink);
  }, []);
  const connect = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    await till.pair(code);
    setBusy(false);
  };
  const unsent = waitingOf(state).length;
  const { problem } = state;
  return (
    <form className="card" onSubmit={connect}>
      <Title>{texts.pair.title}</Title>
      <p>{texts.pair.hint}</p>
      {unsent > 0 && <p className="alert">{texts.pair.unsent(unsent)}</p>}
      <label htmlFor="code">{texts.pair.label}</label>
      <input
        id="code"
        value={code}
        onChange={(event) => setCode(event.target.value)}
        autoCapitalize="characters"
        autoComplete="off"
        spellCheck={false}
        required
        aria-describedby="problem"
      />
      <p id="problem" className="problem" role="alert">
        {problem && (problem.text ?? texts.line.off)}
      </p>
      <button type="submit" className="primary" disabled={isBusy}>
        {texts.pair.connect}
      </button>
      {onBack ? (
        <button type="button" onClick={onBack}>
          {texts.pair.back}
        </button>
      ) : (
        <a href="../console/sign-in">{texts.pair.person}</a>
      )}
    </form>
  );
}
