// The page of the till: its state above the screens, and how a device is connected.
import { useState } from 'react';
import { useStore } from '../store.js';
import { CameraCard } from './cameraCard.js';
import { Pair } from './pair.js';
import { Line, Screens, StoreAlert } from './screens.js';
import type { TillState } from './state.js';
import { texts } from './texts.js';
import type { Till } from './till.js';

function Status({ state }: { state: TillState }) {
  const { device } = state;
  return (
    <header className="status">
      <strong>{device?.hello?.reader?.name ?? device?.hello?.merchant.name ?? texts.title}</strong>
      <Line state={state} />
    </header>
  );
}

export function App({ till }: { till: Till }) {
  const state = useStore(till.state);
  const { phase, device, shown, isStoreBroken } = state;
  // The link of a pairing code also connects the device of somebody who is signed in.
  const [isPairing, setPairing] = useState(() => location.hash.length > 1);
  const isPerson = device?.token === undefined;
  const alert = isStoreBroken && <StoreAlert till={till} />;
  if (phase === 'starting') return <main aria-busy={!isStoreBroken}>{alert}</main>;
  if (phase === 'unpaired' || (isPairing && isPerson))
    return (
      <main>
        {alert}
        <Pair till={till} {...(phase === 'paired' && { onBack: () => setPairing(false) })} />
      </main>
    );
  return (
    <>
      <Status state={state} />
      <main>
        <Screens till={till} camera={(onCode) => <CameraCard onCode={onCode} />} />
        {isPerson && !shown && (
          <button type="button" onClick={() => setPairing(true)}>
            {texts.pair.title}
          </button>
        )}
      </main>
    </>
  );
}
