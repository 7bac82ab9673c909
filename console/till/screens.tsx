// The screens of a till that is connected: the search or a card, what stands above it, and the keyboard scanner. The
// console shows them, too.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useStore } from '../store.js';
import { allowSound, feedback } from './feedback.js';
import { Find } from './find.js';
import { MemberScreen } from './member.js';
import { Pair } from './pair.js';
import { createScanFilter, createScanner, isShortcut, pauseMs, withoutSymbology } from './scanner.js';
import { listedOf, type TillState, waitingOf } from './state.js';
import { TapLists } from './tapLists.js';
import { texts } from './texts.js';
import type { Till } from './till.js';

/** For so long after a customer was served, the card before the camera is taken for the same one. */
const leavingMs = 5_000;
const hintMs = 5_000;

/** Calls back with each code that a scanner or the camera reads. */
function useScans(till: Till) {
  const [isNew] = useState(createScanFilter);
  const [repeated, setRepeated] = useState<string[]>();
  const { shown } = useStore(till.state);
  const isShown = shown !== undefined;
  const leftAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (!isShown) return;
    return () => {
      leftAt.current = Date.now();
    };
  }, [isShown]);
  useEffect(() => {
    if (!repeated) return;
    const timer = setTimeout(() => setRepeated(undefined), hintMs);
    return () => clearTimeout(timer);
  }, [repeated]);

  const take = (readings: string[], isFilmed = false): void => {
    const [code = ''] = readings;
    const now = Date.now();
    const isSame = isFilmed && now - leftAt.current < leavingMs;
    const isFirst = isNew(code, now, isSame ? Number.POSITIVE_INFINITY : undefined);
    if (!isFirst && till.state.get().isFinding) return;
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
      allowSound();
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
  return { film: (text: string) => take([withoutSymbology(text)], true), repeated, again };
}

/** Makes what did not go through heard, also when it was noted long ago. */
function useRefusals(state: TillState): number {
  const count = listedOf(state).length;
  const former = useRef<number>(undefined);
  const isReady = state.phase !== 'starting';
  useEffect(() => {
    if (!isReady) return;
    if (former.current !== undefined && count > former.current) feedback.refused();
    former.current = count;
  }, [count, isReady]);
  return count;
}

export function Line({ state }: { state: TillState }) {
  const { line } = state;
  const waiting = waitingOf(state).length;
  const refused = useRefusals(state);
  return (
    <span className={`line ${line}`} role="status">
      {texts.line[line]}
      {waiting > 0 && ` · ${texts.line.waiting(waiting)}`}
      {refused > 0 && <em className="refused">{` · ${texts.lists.refusedCount(refused)}`}</em>}
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
  const { shutOut, shown, device, isStoreBroken } = useStore(till.state);
  const scans = useScans(till);
  const isOut = shutOut !== undefined && device?.token !== undefined;
  const notice = (
    <>
      <p className="hint" role="status">
        {scans.repeated && texts.find.repeated}
      </p>
      {scans.repeated && !shown && (
        <button type="button" onClick={scans.again}>
          {texts.find.again}
        </button>
      )}
    </>
  );
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
      {!shutOut && shown && <MemberScreen till={till} shown={shown} notice={notice} />}
      {!shutOut && !shown && <Find till={till} camera={camera(scans.film)} notice={notice} />}
      {!shown && <TapLists till={till} />}
    </>
  );
}
