// The member's web card: the same face as the pass, useful without any wallet. It shows the Member ID and never the serial.
import { renderSVG } from 'uqr';
import { displayName, nextTierOf } from '../../activities/wallets/faces.js';
import type { MemberRow } from '../../schemas/collections.js';
import type { Program } from '../../schemas/programs.js';
import { Html, html } from './html.js';

export interface Card {
  member: MemberRow;
  program: Program;
  /** Where the signed pass can be fetched; undefined in stub mode. */
  appleUrl: string | undefined;
  googleUrl: string | undefined;
  /** The card's own address, shown as a QR on a desktop. */
  cardUrl: string;
}

export const qrSvg = (text: string): Html => new Html(renderSVG(text, { border: 0 }));

/** What the page's script keeps up to date. */
export function cardState({ member, program }: Pick<Card, 'member' | 'program'>) {
  const next = nextTierOf({ member, program });
  return {
    balance: member.balance,
    goal: program.goal ?? null,
    tier: member.tier ?? null,
    next: next ? `${next.missing} to ${next.name}` : null,
    status: member.status,
    message: member.pass.message ?? null,
    version: member.version,
  };
}

function stamps({ member, program }: Card): Html | false {
  if (program.style !== 'stamps' || program.goal === undefined) return false;
  const places = Array.from(
    { length: program.goal },
    (_, index) => html`<li class="${index < member.balance && 'full'}"></li>`,
  );
  return html`<ul class="stamps" id="stamps" aria-hidden="true">${places}</ul>`;
}

const notices = { active: '', voided: 'This card has been voided.', expired: 'This card has expired.' };

export function cardBody(card: Card): Html {
  const { member, program, appleUrl, googleUrl, cardUrl } = card;
  const state = cardState(card);
  const unit = program.fields.primaryLabel;
  const name = displayName(member);
  return html`
<article class="card" aria-label="${program.name} card" id="card" data-state="${new URL(cardUrl).pathname}.json">
  <header><h1>${program.passTemplate.logoText || program.name}</h1>${name && html`<span>${name}</span>`}</header>
  <p class="banner" id="status" role="status" ${member.status === 'active' && new Html('hidden')}>${notices[member.status]}</p>
  <p class="balance"><span class="label" id="unit">${unit}</span><span id="balance" aria-labelledby="unit" aria-live="polite">${state.balance}</span>${
    state.goal !== null && html`<span class="label">of ${state.goal} for a reward</span>`
  }</p>
  ${stamps(card)}
  <dl class="facts">
    ${program.tiers && html`<div><dt class="label">Tier</dt><dd id="tier">${state.tier ?? 'None yet'}</dd></div>`}
    ${program.tiers && html`<div><dt class="label">Next</dt><dd id="next">${state.next ?? 'The highest tier'}</dd></div>`}
  </dl>
  <div class="code" role="img" aria-label="QR code of Member ID ${member.memberCode}">
    ${qrSvg(member.memberCode)}
    <span class="label">Member ID</span><strong>${member.memberCode}</strong>
  </div>
  <p class="message" id="message" aria-live="polite">${state.message}</p>
</article>
<nav class="actions" aria-label="Add to a wallet">
  ${appleUrl && html`<a class="button" href="${appleUrl}">Add to Apple Wallet</a>`}
  ${googleUrl && html`<a class="button" href="${googleUrl}" rel="noopener">Add to Google Wallet</a>`}
</nav>
<aside class="elsewhere"><p class="note">Scan to open this card on your phone.</p>${qrSvg(cardUrl)}</aside>`;
}

/** Keeps an open card current; without it the card is as it was when it was opened. */
export const cardScript = `'use strict';
const card = document.getElementById('card');
const notices = ${JSON.stringify(notices)};
const set = (id, text) => { const at = document.getElementById(id); if (at && at.textContent !== String(text)) at.textContent = text; };
async function refresh() {
  if (document.hidden) return;
  const response = await fetch(card.dataset.state, { headers: { Accept: 'application/json' } });
  if (!response.ok) return;
  const state = await response.json();
  set('balance', state.balance);
  set('tier', state.tier ?? 'None yet');
  set('next', state.next ?? 'The highest tier');
  set('message', state.message ?? '');
  set('status', notices[state.status]);
  document.getElementById('status').hidden = state.status === 'active';
  document.querySelectorAll('#stamps li').forEach((place, index) => place.classList.toggle('full', index < state.balance));
}
setInterval(() => refresh().catch(() => {}), 3000);
document.addEventListener('visibilitychange', () => refresh().catch(() => {}));
`;
