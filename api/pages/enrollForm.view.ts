// The public enrollment page in the colours of its program, with errors next to their fields. It works without
// JavaScript.
import { Html, html } from '../../platform/html.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { type Card, virtualPhone } from './card.view.js';
import { tick } from './icons.view.js';
import type { Page } from './layout.view.js';
import type { Words } from './words.view.js';

export interface Joining {
  program: Program;
  words: Words;
  logoUrl: string | undefined;
  /** Whether the link to the card is mailed. */
  mails: boolean;
}

export interface EnrollForm extends Joining {
  values: Record<string, string>;
  errors: Record<string, string>;
  /** Shown above the fields. */
  notice?: string;
}

const inputs = {
  email: { type: 'email', autocomplete: 'email' },
  firstName: { type: 'text', autocomplete: 'given-name' },
  lastName: { type: 'text', autocomplete: 'family-name' },
  phone: { type: 'tel', autocomplete: 'tel' },
} as const;

export type EnrollField = keyof typeof inputs | 'consent';

/** A honeypot: people do not see this field. Its name means nothing to the autofill of browsers. */
export const honeypot = 'x7';

const honeypotField = html`<div class="unseen" aria-hidden="true"><label for="${honeypot}">Leave this empty</label>
<input id="${honeypot}" name="${honeypot}" tabindex="-1" autocomplete="off"></div>`;

const inputsOf = ({ enrollment }: Program) => ['email', ...enrollment.fields] as const;

/** The fields of the page, in order. */
export const enrollFields = (program: Program): EnrollField[] => [
  ...inputsOf(program),
  ...(program.enrollment.consentText === undefined ? [] : (['consent'] as const)),
];

function field(
  name: keyof typeof inputs,
  { values, errors, words: { join } }: EnrollForm,
  isFirstWrong: boolean,
): Html {
  const { type, autocomplete } = inputs[name];
  const { label, wrong } = join.fields[name];
  const error = errors[name];
  const marked = error && html` aria-invalid="true" aria-describedby="${name}-error"`;
  return html`<div>
  <label for="${name}">${label}${name !== 'email' && html` <span>${join.optional}</span>`}</label>
  <input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${values[name] ?? ''}" maxlength="254"${
    name === 'email' && new Html(' required')
  }${isFirstWrong && new Html(' autofocus')}${marked}>
  ${error && html`<p class="error" id="${name}-error">${wrong}</p>`}
</div>`;
}

function consent({ program, words, values, errors }: EnrollForm, isFirstWrong: boolean): Html | false {
  const { consentText } = program.enrollment;
  if (consentText === undefined) return false;
  const marked = errors.consent && html` aria-invalid="true" aria-describedby="consent-error"`;
  return html`<div class="consent">
  <input id="consent" name="consent" type="checkbox" required${values.consent && new Html(' checked')}${isFirstWrong && new Html(' autofocus')}${marked}>
  <label for="consent">${words.say(consentText)}</label>
  ${errors.consent && html`<p class="error" id="consent-error">${words.join.consent}</p>`}
</div>`;
}

function perks({ program: { goal, rewardName, rewards, tiers, fields }, words }: Joining): string[] {
  const { join, say, language } = words;
  const promises = [join.readySoon, join.noApp];
  if (tiers) return [join.rise(new Intl.ListFormat(language).format(tiers.map(({ name }) => say(name)))), ...promises];
  const unit = say(fields.primaryLabel);
  // Only German capitalises nouns.
  const label = language === 'de' ? unit : unit.toLowerCase();
  const named = rewardName === undefined ? undefined : say(rewardName);
  const own = (rewards ?? []).filter(({ active }) => active).slice(0, 3);
  const prizes = own.map(({ name, cost }) => join.collect(cost, label, say(name)));
  if (goal !== undefined) prizes.push(join.collect(goal, label, named));
  return [...prizes, ...promises];
}

function hero(joining: Joining): Html {
  const { program, words, logoUrl } = joining;
  return html`<div class="hero">
  ${logoUrl && html`<img class="logo" src="${logoUrl}" alt="">`}
  <h1>${words.join.title(program.passTemplate.logoText || program.name)}</h1>
  <ul class="perks">${perks(joining).map((perk) => html`<li>${tick}<span>${perk}</span></li>`)}</ul>
</div>`;
}

/** The form posts to the address of the page, so that query parameters such as `utm_source` are kept. */
export function enrollForm(form: EnrollForm): Html {
  const { program, words, errors, notice, mails } = form;
  const { join } = words;
  const { privacyUrl } = program.enrollment;
  const firstWrong = enrollFields(program).find((name) => errors[name]);
  return html`<div class="join">${hero(form)}
<form method="post" novalidate>
${notice && html`<p class="summary" role="alert">${notice}</p>`}
${inputsOf(program).map((name) => field(name, form, name === firstWrong))}
${honeypotField}
${consent(form, firstWrong === 'consent')}
<button type="submit">${join.button}</button>
<p class="note">${join.oneCard} ${mails && join.mailed}${
    privacyUrl && html` <a href="${privacyUrl}" rel="noopener">${join.privacy}</a>`
  }</p>
</form></div>`;
}

/** The page as it is opened. */
export const enrollPage = (joining: Joining): Page => ({
  title: joining.words.join.title(joining.program.name),
  language: joining.words.language,
  program: joining.program,
  body: enrollForm({ ...joining, values: {}, errors: {} }),
  shape: 'split',
});

/**
 * When links are mailed: the same page for everybody, whether the email was known or not. Otherwise the page for a
 * known email, because a new member gets the card at once.
 */
export function joinedPage(joining: Joining & Pick<Card, 'deskUrl'>, email: string): Page {
  const { program, words, mails } = joining;
  const { join, language } = words;
  const [heading, text] = mails ? [join.sent, join.sentTo(email)] : [join.known, join.knownText];
  return {
    title: `${heading}: ${program.name}`,
    language,
    program,
    shape: 'split',
    body: html`<div class="join">${hero(joining)}
<div class="said" role="status"><h2>${heading}</h2>
<p>${text}</p>${virtualPhone(joining)}</div></div>`,
  };
}
