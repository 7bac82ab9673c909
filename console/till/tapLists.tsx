// What did not go through, until the staff has seen it, and the last taps.

import { useState } from 'react';
import { isolated } from '../isolating.js';
import { locale } from '../language.js';
import { useStore } from '../store.js';
import { isAudible, setAudible } from './feedback.js';
import { isLost, listedOf, programOf, type TillState } from './state.js';
import type { Tap } from './taps.js';
import { rewardText, texts } from './texts.js';
import type { Till } from './till.js';

/** What a tap changes, in a few characters. */
export function changeOf(tap: Tap, state: TillState): string {
  if (tap.kind === 'redeem') {
    const { rewards = [], rewardName } = programOf(state, tap.programId) ?? {};
    // Another reward may be gone by now.
    const own = tap.rewardId === 'default' ? rewardName : undefined;
    return rewardText(rewards.find(({ id }) => id === tap.rewardId)?.name ?? own);
  }
  return tap.kind === 'earn' && tap.quantity !== undefined ? `+${tap.quantity}` : `+${tap.delta}`;
}

/** What a tap did. */
export function deedOf(tap: Tap, state: TillState): string {
  if (tap.kind === 'redeem') return texts.tap.redeemed(changeOf(tap, state));
  if (tap.kind === 'earn') return changeOf(tap, state);
  const undone = state.taps.find(({ device, sequence }) => device === tap.device && sequence === tap.undoes);
  return undone ? texts.tap.undone(changeOf(undone, state)) : texts.member.undo;
}

export function stateOf(tap: Tap, { device }: TillState): string {
  if (isLost(tap, device)) return texts.tap.refused(texts.tap.lost);
  if (tap.state === 'refused') return texts.tap.refused(tap.why ?? '');
  return tap.state === 'sent' ? texts.tap.sent : texts.tap.waiting;
}

const timeOf = (at: number): string => new Date(at).toLocaleTimeString(locale, { timeStyle: 'short' });

function Line({ tap, state }: { tap: Tap; state: TillState }) {
  return (
    <span>
      {timeOf(tap.at)} · {isolated(tap.name)} · {isolated(deedOf(tap, state))}{' '}
      <em className={tap.state}>{stateOf(tap, state)}</em>
    </span>
  );
}

const shownTaps = 10;

function SoundSwitch() {
  const [isOn, setOn] = useState(isAudible);
  const change = (to: boolean): void => {
    setAudible(to);
    setOn(to);
  };
  return (
    <label className="switch">
      <input type="checkbox" checked={isOn} onChange={(event) => change(event.target.checked)} />
      {texts.sound}
    </label>
  );
}

export function TapLists({ till }: { till: Till }) {
  const state = useStore(till.state);
  const listed = listedOf(state);
  const last = state.taps.slice(-shownTaps).toReversed();
  return (
    <>
      {listed.length > 0 && (
        <section className="card alert" aria-labelledby="refused">
          <h2 id="refused">{texts.lists.refused}</h2>
          <ul>
            {listed.map((tap) => (
              <li key={tap.id}>
                <Line tap={tap} state={state} />
                <button type="button" onClick={() => void till.dismiss(tap.id)}>
                  {texts.lists.dismiss}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <details className="card">
        <summary>{texts.lists.last}</summary>
        {last.length === 0 && <p>{texts.lists.none}</p>}
        <ul>
          {last.map((tap) => (
            <li key={tap.id}>
              <Line tap={tap} state={state} />
            </li>
          ))}
        </ul>
      </details>
      <SoundSwitch />
    </>
  );
}
