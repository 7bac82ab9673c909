// The screens of a till that is connected: the search or a card, what stands above it, and the keyboard scanner. The
// console shows them, too.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useStore } from '../store.js';
import { allowSound, feedback } from './feedback.js';
import { Find } from './find.js';
import { MemberScreen } from './member.js';
import { Pair } from './pair.js';
import { createScanFilter, createScanner, isShortcut, pauseMs, withoutSymbology } from './scanner.js';
import { type TillState, waitingOf } from './state.js';
import { TapLists } from './tapLists.js';
import { texts } from './texts.js';
import type { Till } from './till.js';

/** Calls back with each code that a scanner or the camera reads. */
function useScans(till: Till) {
  const [isNew] = useState(createScanFilter);
  const [repeated, setRepeated] = useState<string[]>();
  const take = (readings: string[]): void => {
    const [code = ''] = readings;
    const isFirst = isNew(code, Date.now());
    setRepeated(isFirst ? undefined : readings);
    if (!isFirst) return;
    feedback.read();
    void till.find(readings);
  };
  const latest = useRef(take);
  latest.current = take;

  useEffect(() => {
    const scanner = createScanner();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (readings: string[] | undefined, event?: KeyboardEvent): void => {
      if (!readings || till.state.get().phase !== 'paired') return;
      event?.preventDefault();
      event?.stopPropagation();
      latest.current(readings);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (isShortcut(event)) return;
      const { key, code, shiftKey, altKey } = event;
      end(scanner.press({ key, code, shiftKey, altKey, at: event.timeStamp }), event);
      clearTimeout(timer);
      timer = setTimeout(() => end(scanner.pause(performance.now())), pauseMs + 20);
    };
    window.addEventListener('keydown', onKey, { capture: true });
    window.addEventListener('pointerdown', allowSound);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('keydown', onKey, { capture: true });
      window.removeEventListener('pointerdown', allowSound);
    };
  }, [till]);
  const again = () => {
    setRepeated(undefined);
    void till.find(repeated ?? []);
  };
  return { take: (text: string) => take([withoutSymbology(text)]), repeated, again };
}

export function Line({ state }: { state: TillState }) {
  const { line } = state;
  const waiting = waitingOf(state).length;
  return (
    <span className={`line ${line}`} role="status">
      {texts.line[line]}
      {waiting > 0 && ` · ${texts.line.waiting(waiting)}`}
    </span>
  );
}

/** Nothing is noted without the device's database. */
export function StoreAlert({ till }: { till: Till }) {
  return (
    <div className="alert" role="alert">
      <p>{texts.store.broken}</p>
      <button type="button" onClick={() => void till.connect()}>
        {texts.store.retry}
      </button>
    </div>
  );
}

interface ScreensProps {
  till: Till;
  /** Reads cards, or leads to where they are read. */
  camera: (onCode: (code: string) => void) => ReactNode;
}

export function Screens({ till, camera }: ScreensProps) {
  const { shutOut, shown, choices, device, isStoreBroken } = useStore(till.state);
  const scans = useScans(till);
  const isOut = shutOut !== undefined && device?.token !== undefined;
  return (
    <>
      {isStoreBroken && <StoreAlert till={till} />}
      {shutOut && (
        <div className="alert" role="alert">
          <p>{shutOut.display ?? (isOut ? texts.out.reader : texts.out.person)}</p>
          {!isOut && (
            <a className="button" href="../console/sign-in">
              {texts.out.signIn}
            </a>
          )}
        </div>
      )}
      {isOut && <Pair till={till} />}
      {!shutOut && shown && <MemberScreen till={till} shown={shown} />}
      {!shutOut && !shown && <Find till={till} camera={camera(scans.take)} />}
      {scans.repeated && !shutOut && !choices && (
        <p className="hint">
          {texts.find.repeated}{' '}
          <button type="button" onClick={scans.again}>
            {texts.find.again}
          </button>
        </p>
      )}
      {!shown && <TapLists till={till} />}
    </>
  );
}
