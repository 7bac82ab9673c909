// The member's web card. It shows what the pass shows and works without a wallet. It shows the Member ID and never the
// serial number.
import { Html, html } from '../../platform/html.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { expiryLines } from '../../schemas/points/expiry.rules.js';
import { hasOwnRewards, rewardStates } from '../../schemas/points/rewards.rules.js';
import type { BarcodeFormat } from '../../schemas/programs/barcodes.rules.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { localeOf } from '../../schemas/shared/languages/index.js';
import { displayName, nextTierOf, tierNow } from '../../schemas/wallets/passes.view.js';
import { type DrawnBarcode, qrSvg } from './barcode.view.js';
import { gift, speech, tick, wallet } from './icons.view.js';
import type { Words } from './words.view.js';

export interface Card {
  member: MemberRow;
  program: Program;
  words: Words;
  barcode: DrawnBarcode;
  /** Where the signed pass can be fetched; undefined in stub mode. */
  appleUrl: string | undefined;
  googleUrl: string | undefined;
  /** The phone has Google Wallet, so Google's button comes first. */
  googleFirst: boolean;
  /** The URL of this card, shown as a QR code on a desktop. */
  cardUrl: string;
  logoUrl: string | undefined;
  stripUrl: string | undefined;
  /** True right after the enrollment. */
  isNew: boolean;
  /** Where a virtual phone shows this card; only in the demo. */
  deskUrl?: string | undefined;
}

const linear = new Set<BarcodeFormat>(['PDF417', 'Code128', 'Code39', 'Codabar', 'EAN13', 'I2of5']);

/** With a larger goal the stamps would be too small to tell apart; the card shows a progress bar. */
const maxStamps = 30;

type CardState = ReturnType<typeof cardState>;

/** The data and the words with which the page's script updates the card. */
export function cardState({ member, program, words }: Pick<Card, 'member' | 'program' | 'words'>) {
  const { card, say, language } = words;
  const next = nextTierOf({ member, program });
  const { balance } = member;
  const { goal, rewardName } = program;
  const missing = goal === undefined ? 0 : Math.max(goal - balance, 0);
  const points = program.basis === 'lifetime' ? member.lifetimePoints : balance;
  const notices = { active: [], voided: [card.voided], expired: [card.expired] };
  const reason = member.statusReason === undefined ? [] : [card.reason(member.statusReason)];
  const isActive = member.status === 'active';
  const notice = isActive ? '' : [...notices[member.status], ...reason].join(' ');
  const isFull = goal !== undefined && missing === 0 && isActive;
  /** A card that is blocked or has ended gets nothing. */
  const lackOf = (lacking: number) => {
    if (lacking > 0) return card.toGo(lacking);
    return isActive ? card.ready : '–';
  };
  return {
    balance,
    unit: say(program.fields.primaryLabel),
    goal: goal ?? null,
    reward: lackOf(missing),
    /** The text for a reached goal; null before. */
    full: isFull ? fullOf(words, rewardName) : null,
    /** Empty when the only reward is the one that costs the goal. */
    rewards: (hasOwnRewards(program) ? rewardStates(program, balance) : []).map(
      ({ id, name, cost, ready, missing: lacking }) => ({
        name: id === 'default' && rewardName === undefined ? card.reward : say(name),
        cost,
        ready: ready && isActive,
        state: lackOf(ready ? 0 : lacking),
      }),
    ),
    /** The next expiry. */
    expiring: expiryLines(program, member, { locale: localeOf(language), until: card.until }),
    tier: tierOf(words, tierNow({ member, program })),
    next: next ? card.toTier(next.missing, say(next.name)) : card.highest,
    /** Value, maximum and name of the progress bar. */
    aim: program.tiers
      ? {
          value: points,
          max: points + (next?.missing ?? 0),
          name: next ? card.towards(say(next.name)) : card.highest,
        }
      : { value: Math.min(balance, goal ?? 0), max: goal ?? 0, name: card.towardsReward },
    status: member.status,
    notice,
    message: member.pass.message === undefined ? null : say(member.pass.message),
    version: member.version,
  };
}

const fullOf = ({ card, say }: Words, reward: string | undefined): string =>
  reward === undefined ? card.readyReward : card.readyNow(say(reward));

const tierOf = ({ card, say }: Words, tier: string | undefined): string =>
  tier === undefined ? card.noTier : say(tier);

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

function facts({ program, words: { card, say } }: Card, { goal, reward, tier, next }: CardState): Html | false {
  if (program.tiers) {
    return html`<div><span class="label">${card.tier}</span><b id="tier">${tier}</b>
    <span class="label" id="next">${next}</span></div>`;
  }
  if (goal === null) return false;
  const { rewardName } = program;
  const label = rewardName === undefined ? card.rewardAt(goal) : card.namedAt(say(rewardName), goal);
  return html`<div><span class="label">${label}</span><b id="reward">${reward}</b></div>`;
}

/** Rendered but hidden while the card is not full, so that the script can show it. */
function celebration({ words: { card } }: Card, { full }: CardState): Html {
  return html`<div class="celebration" id="celebration" ${full === null && new Html('hidden')}>
  ${gift}<div><b>${card.full}</b><p id="full">${full}</p></div>${Array.from({ length: 12 }, () => new Html('<i aria-hidden="true"></i>'))}
</div>`;
}

function view(card: Card, state: CardState): Html {
  const { member, program, cardUrl, logoUrl, stripUrl, words } = card;
  const name = displayName(member);
  const { code: barcode, format, svg } = card.barcode;
  const isOther = barcode !== member.memberCode;
  const label = isOther ? words.card.cardNumber : words.card.memberId;
  const isVoid = member.status !== 'active';
  return html`<article class="card ${isVoid && 'void'}" id="card" aria-label="${words.card.title(program.name)}" data-state="${new URL(cardUrl).pathname}.json">
  <header>
    ${logoUrl && html`<img class="logo" src="${logoUrl}" alt="">`}
    <div><h1>${program.passTemplate.logoText || program.name}</h1>${name && html`<p>${name}</p>`}</div>
  </header>
  ${stripUrl && html`<img class="strip" src="${stripUrl}" alt="">`}
  <p class="banner" id="status" ${!isVoid && new Html('hidden')}>${state.notice}</p>
  <div class="balance">
    <div><span class="label">${state.unit}</span><strong id="balance">${state.balance}</strong></div>
    ${facts(card, state)}
  </div>
  ${stamps(card) || progress(card, state)}
  ${program.goal !== undefined && celebration(card, state)}
  ${rewardList(card, state)}
  ${expiringList(card, state)}
  <div class="code ${linear.has(format) && 'linear'}" role="img" aria-label="${words.card.qr(label, barcode)}${isOther && `, ${words.card.memberId} ${member.memberCode}`}">
    ${svg}
    <span class="label">${label}</span>${codeText(barcode)}
    ${isOther && html`<span class="label">${words.card.memberId}</span>${codeText(member.memberCode)}`}
  </div>
</article>`;
}

/** Where there is no room for it whole, a code breaks in its middle. */
function codeText(code: string): Html {
  const middle = Math.ceil(code.length / 2);
  return html`<strong>${code.slice(0, middle)}<wbr>${code.slice(middle)}</strong>`;
}

function rewardList({ words: { card } }: Card, { rewards }: CardState): Html | false {
  if (rewards.length === 0) return false;
  const lines = rewards.map(
    ({ name, cost, ready, state }) =>
      html`<li class="${ready && 'ready'}"><span>${name} <span class="label">${cost}</span></span> <b>${state}</b></li>`,
  );
  return html`<ul class="rewards" id="rewards" aria-label="${card.rewards}">${lines}</ul>`;
}

/** Rendered but hidden while nothing expires, so that the script can fill it. */
function expiringList({ words: { card }, program: { expiry } }: Card, { expiring }: CardState): Html | false {
  if (!expiry) return false;
  const lines = expiring.map((line) => html`<li>${line}</li>`);
  return html`<div class="expiring" id="expiring" ${lines.length === 0 && new Html('hidden')}><span class="label">${card.expiring}</span><ul>${lines}</ul></div>`;
}

/** The text on the back of a pass. */
function back({ program: { passTemplate, enrollment }, words }: Card): Html | false {
  const fields = passTemplate.backFields.map(
    ({ label, value }) => html`<div><dt>${words.say(label)}</dt><dd>${words.say(value)}</dd></div>`,
  );
  const { privacyUrl } = enrollment;
  if (fields.length === 0 && privacyUrl === undefined) return false;
  return html`<details class="back"><summary>${words.card.about}</summary>
${fields.length > 0 && html`<dl>${fields}</dl>`}
${privacyUrl && html`<p><a href="${privacyUrl}" rel="noopener">${words.join.privacy}</a></p>`}
</details>`;
}

/** In the demo, the button of a wallet that is not there leads to the virtual phones. */
function walletButtons({ appleUrl, googleUrl, deskUrl, googleFirst, words: { card } }: Card): Html | false {
  const button = (id: string, url: string | undefined, text: string) =>
    url !== undefined && html`<a class="button" id="${id}" href="${url}" rel="noopener">${wallet}${text}</a>`;
  const apple = button('apple', appleUrl ?? deskUrl, card.apple);
  const google = button('google', googleUrl ?? deskUrl, card.google);
  if (!apple && !google) return false;
  return html`<nav class="actions" aria-label="${card.wallets}">
    ${googleFirst ? [google, apple] : [apple, google]}
  </nav>`;
}

export const virtualPhone = ({ deskUrl, words }: Pick<Card, 'deskUrl' | 'words'>): Html | false =>
  deskUrl !== undefined &&
  html`<p class="actions"><a class="button" href="${deskUrl}">${words.card.virtualPhone}</a></p>`;

export function cardBody(card: Card): Html {
  const { member, cardUrl, isNew, words } = card;
  const state = cardState(card);
  return html`<div>${view(card, state)}</div>
<div class="side">
  ${
    isNew &&
    html`<div class="welcome"><h2>${words.card.welcome(member.firstName)}</h2>
  <p>${words.card.welcomeText}</p></div>`
  }
  <div class="message" id="said" ${!state.message && new Html('hidden')}>${speech}<p id="message">${state.message}</p></div>
  <p class="unseen" id="news" role="status"></p>
  <div id="add" ${member.status !== 'active' && new Html('hidden')}>${virtualPhone(card)}${walletButtons(card)}</div>
  <aside class="elsewhere" aria-label="${words.card.onPhone}">${qrSvg(cardUrl)}<p class="note">${words.card.scan}</p></aside>
  ${back(card)}
  <p class="note foot">${words.card.atTill} <noscript>${words.card.reload}</noscript></p>
</div>`;
}
