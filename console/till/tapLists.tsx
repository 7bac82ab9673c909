// What did not go through, until the staff has seen it, and the last taps.
import { useStore } from '../store.js';
import { isLost, listedOf, programOf, type TillState } from './state.js';
import type { Tap } from './taps.js';
import { language, texts } from './texts.js';
import type { Till } from './till.js';

/** What a tap did, in a few characters. */
export function deedOf(tap: Tap, state: TillState): string {
  const program = programOf(state, tap.programId);
  if (tap.kind === 'undo') return texts.member.undo;
  if (tap.kind === 'redeem') {
    const { rewards = [], rewardName = '' } = program ?? {};
    return texts.member.redeem(rewards.find(({ id }) => id === tap.rewardId)?.name ?? rewardName);
  }
  return tap.quantity === undefined ? `+${tap.delta}` : `+${tap.quantity}`;
}

export function stateOf(tap: Tap, { device }: TillState): string {
  if (isLost(tap, device)) return texts.tap.refused(texts.tap.lost);
  if (tap.state === 'refused') return texts.tap.refused(tap.why ?? '');
  return tap.state === 'sent' ? texts.tap.sent : texts.tap.waiting;
}

const timeOf = (at: number): string => new Date(at).toLocaleTimeString(language, { timeStyle: 'short' });

function Line({ tap, state }: { tap: Tap; state: TillState }) {
  return (
    <span>
      {timeOf(tap.at)} · {tap.name} · {deedOf(tap, state)} <em className={tap.state}>{stateOf(tap, state)}</em>
    </span>
  );
}

const shownTaps = 10;

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
    </>
  );
}
