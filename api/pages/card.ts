// The member's web card. It shows what the pass shows and works without a wallet. It shows the Member ID and never the
// serial number.
import { LRUCache } from 'lru-cache';
import { renderSVG } from 'uqr';
import { barcodeOf, displayName, nextTierOf, tierNow } from '../../activities/wallets/passViews.js';
import { Html, html } from '../../platform/html.js';
import type { MemberRow } from '../../schemas/collections.js';
import { expiryLines } from '../../schemas/expiry.js';
import type { Program } from '../../schemas/programs.js';
import { hasOwnRewards, rewardStates } from '../../schemas/rewards.js';
import { gift, speech, tick, wallet } from './icons.js';

export interface Card {
  member: MemberRow;
  program: Program;
  /** Where the signed pass can be fetched; undefined in stub mode. */
  appleUrl: string | undefined;
  googleUrl: string | undefined;
  /** The address of this card, shown as a QR code on a desktop. */
  cardUrl: string;
  logoUrl: string | undefined;
  stripUrl: string | undefined;
  /** True right after the enrollment. */
  isNew: boolean;
}

const drawn = new LRUCache<string, Html>({ max: 1_000 });

function qrSvg(text: string): Html {
  const svg = drawn.get(text) ?? new Html(renderSVG(text, { border: 0 }));
  drawn.set(text, svg);
  return svg;
}

/** With a larger goal the stamps would be too small to tell apart; the card shows a progress bar. */
const maxStamps = 30;

type CardState = ReturnType<typeof cardState>;

/** The data that the page's script keeps current. */
export function cardState({ member, program }: Pick<Card, 'member' | 'program'>) {
  const next = nextTierOf({ member, program });
  const { balance } = member;
  const { goal } = program;
  const missing = goal === undefined ? 0 : Math.max(goal - balance, 0);
  const points = program.basis === 'lifetime' ? member.lifetimePoints : balance;
  return {
    balance,
    unit: program.fields.primaryLabel,
    goal: goal ?? null,
    reward: missing > 0 ? `${missing} to go` : 'Ready',
    /** Empty when the only reward is the one whose price is the goal. */
    rewards: (hasOwnRewards(program) ? rewardStates(program, balance) : []).map(({ name, cost, ready, missing }) => ({
      name,
      cost,
      ready,
      state: ready ? 'Ready' : `${missing} to go`,
    })),
    /** What expires next. */
    expiring: expiryLines(program, member),
    tier: tierNow({ member, program }) ?? null,
    next: next ? `${next.missing} to ${next.name}` : null,
    /** Value, maximum and name of the progress bar. */
    aim: program.tiers
      ? { value: points, max: points + (next?.missing ?? 0), name: next ? `Towards ${next.name}` : 'The highest tier' }
      : { value: Math.min(balance, goal ?? 0), max: goal ?? 0, name: 'Towards the reward' },
    status: member.status,
    message: member.pass.message ?? null,
    version: member.version,
  };
}

export const notices = { active: '', voided: 'This card has been voided.', expired: 'This card has expired.' };

function stamps({ member, program: { style, goal } }: Card): Html | false {
  if (style !== 'stamps' || goal === undefined || goal > maxStamps) return false;
  const places = Array.from(
    { length: goal },
    (_, index) => html`<li class="${index < member.balance && 'full'}">${tick}${index === goal - 1 && gift}</li>`,
  );
  return html`<ol class="stamps ${goal > 15 && 'many'}" id="stamps" aria-hidden="true">${places}</ol>`;
}

function progress(card: Card, { aim }: CardState): Html | false {
  if (aim.max === 0 || stamps(card)) return false;
  return html`<progress class="progress" id="progress" max="${aim.max}" value="${aim.value}" aria-label="${aim.name}"></progress>`;
}

function facts({ program }: Card, { goal, reward, tier, next }: CardState): Html | false {
  if (program.tiers) {
    return html`<div><span class="label">Tier</span><b id="tier">${tier ?? 'None yet'}</b>
    <span class="label" id="next">${next ?? 'The highest tier'}</span></div>`;
  }
  return goal !== null && html`<div><span class="label">Reward at ${goal}</span><b id="reward">${reward}</b></div>`;
}

function view(card: Card, state: CardState): Html {
  const { member, program, cardUrl, logoUrl, stripUrl } = card;
  const name = displayName(member);
  const barcode = barcodeOf(card);
  const isOther = barcode !== member.memberCode;
  const label = isOther ? 'Card number' : 'Member ID';
  const isVoid = member.status !== 'active';
  return html`<article class="card ${isVoid && 'void'}" id="card" aria-label="${program.name} card" data-state="${new URL(cardUrl).pathname}.json">
  <header>
    ${logoUrl && html`<img class="logo" src="${logoUrl}" alt="">`}
    <div><h1>${program.passTemplate.logoText || program.name}</h1>${name && html`<p>${name}</p>`}</div>
  </header>
  ${stripUrl && html`<img class="strip" src="${stripUrl}" alt="">`}
  <p class="banner" id="status" ${!isVoid && new Html('hidden')}>${notices[member.status]}</p>
  <div class="balance">
    <div><span class="label">${state.unit}</span><strong id="balance">${state.balance}</strong></div>
    ${facts(card, state)}
  </div>
  ${stamps(card) || progress(card, state)}
  ${rewardList(state)}
  ${expiringList(state, program)}
  <div class="code" role="img" aria-label="QR code of ${label} ${barcode}${isOther && `, Member ID ${member.memberCode}`}">
    ${qrSvg(barcode)}
    <span class="label">${label}</span><strong>${barcode}</strong>
    ${isOther && html`<span class="label">Member ID</span><strong>${member.memberCode}</strong>`}
  </div>
</article>`;
}

function rewardList({ rewards }: CardState): Html | false {
  if (rewards.length === 0) return false;
  const lines = rewards.map(
    ({ name, cost, ready, state }) =>
      html`<li class="${ready && 'ready'}"><span>${name} <span class="label">${cost}</span></span> <b>${state}</b></li>`,
  );
  return html`<ul class="rewards" id="rewards" aria-label="Rewards">${lines}</ul>`;
}

/** Also there, hidden, while nothing expires, so that the script can fill it. */
function expiringList({ expiring }: CardState, { expiry }: Program): Html | false {
  if (!expiry) return false;
  const lines = expiring.map((line) => html`<li>${line}</li>`);
  return html`<div class="expiring" id="expiring" ${lines.length === 0 && new Html('hidden')}><span class="label">Expiring</span><ul>${lines}</ul></div>`;
}

export function cardBody(card: Card): Html {
  const { member, appleUrl, googleUrl, cardUrl, isNew } = card;
  const state = cardState(card);
  return html`<div>${view(card, state)}</div>
<div class="side">
  ${
    isNew &&
    html`<div class="welcome"><h2>Welcome${member.firstName && `, ${member.firstName}`}!</h2>
  <p>This is your card. Keep this page, or add it to your phone's wallet.</p></div>`
  }
  <div class="message" id="said" ${!state.message && new Html('hidden')}>${speech}<p id="message">${state.message}</p></div>
  <p class="unseen" id="news" role="status"></p>
  ${
    (appleUrl || googleUrl) &&
    html`<nav class="actions" aria-label="Add to a wallet">
    ${appleUrl && html`<a class="button" href="${appleUrl}">${wallet}Add to Apple Wallet</a>`}
    ${googleUrl && html`<a class="button" href="${googleUrl}" rel="noopener">${wallet}Add to Google Wallet</a>`}
  </nav>`
  }
  <aside class="elsewhere" aria-label="On your phone">${qrSvg(cardUrl)}<p class="note">Scan this with your phone to carry the card with you.</p></aside>
  <p class="note foot">Show the code at the till. <noscript>Reload this page to see your newest balance.</noscript></p>
</div>`;
}
