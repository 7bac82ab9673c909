// The till within the console, for owners and managers on a phone. It shares the device's storage with the till's page,
// which has the camera.
import { useState } from 'react';
import { serviceUrl } from '../api.js';
import { useStore } from '../store.js';
import { startTill } from '../till/device.js';
import { cameraSetting } from '../till/find.js';
import { Within } from '../till/parts.js';
import { Line, Screens } from '../till/screens.js';
import { texts } from '../till/texts.js';
import { Skeleton } from './page.js';

const till = startTill();

function ToCamera() {
  return (
    <a className="button" href={`${serviceUrl}/till`} onClick={() => localStorage.setItem(cameraSetting, 'on')}>
      {texts.find.camera}
    </a>
  );
}

export function Counter() {
  const state = useStore(till.state);
  const [within] = useState({ isFresh: true });
  if (state.phase !== 'paired' && !state.isStoreBroken) return <Skeleton />;
  return (
    <section className="till counter" aria-label={texts.title}>
      <Within value={within}>
        <Line state={state} />
        <Screens till={till} camera={() => <ToCamera />} />
      </Within>
    </section>
  );
}
