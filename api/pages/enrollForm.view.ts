// The public enrollment page in the colours of its program, with errors next to their fields. It works without
// JavaScript.
import { Html, html } from '../../platform/html.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { tick } from './icons.view.js';
import type { Page } from './layout.view.js';
import { offersOf } from './offers.view.js';
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
  /** The fields with a mistake. */
  wrong: readonly string[];
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

export function field(
  name: keyof typeof inputs,
  { values, wrong, words: { join } }: Pick<EnrollForm, 'values' | 'wrong' | 'words'>,
  isFirstWrong: boolean,
): Html {
  const { type, autocomplete } = inputs[name];
  const { label, wrong: mistake } = join.fields[name];
  const isWrong = wrong.includes(name);
  const marked = isWrong && html` aria-invalid="true" aria-describedby="${name}-error"`;
  return html`<div>
  <label for="${name}">${label}${name !== 'email' && html` <span>${join.optional}</span>`}</label>
  <input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${values[name] ?? ''}" maxlength="254"${
    name === 'email' && new Html(' required')
  }${isFirstWrong && new Html(' autofocus')}${marked}>
  ${isWrong && html`<p class="error" id="${name}-error">${mistake}</p>`}
</div>`;
}

function consent({ program, words, values, wrong }: EnrollForm, isFirstWrong: boolean): Html | false {
  const { consentText } = program.enrollment;
  if (consentText === undefined) return false;
  const isWrong = wrong.includes('consent');
  const marked = isWrong && html` aria-invalid="true" aria-describedby="consent-error"`;
  return html`<div class="consent">
  <input id="consent" name="consent" type="checkbox" required${values.consent && new Html(' checked')}${isFirstWrong && new Html(' autofocus')}${marked}>
  <label for="consent">${words.say(consentText)}</label>
  ${isWrong && html`<p class="error" id="consent-error">${words.join.consent}</p>`}
</div>`;
}

/** Apart from the consent without which nobody joins: nobody has to agree, and the box begins empty. */
function marketing({ program, words, values }: EnrollForm): Html | false {
  const { marketingText } = program.enrollment;
  if (marketingText === undefined) return false;
  return html`<div class="consent apart">
  <input id="marketing" name="marketing" type="checkbox"${values.marketing && new Html(' checked')}>
  <label for="marketing">${words.say(marketingText)} <span>${words.join.optional}</span></label>
</div>`;
}

function perks({ program, words }: Joining): string[] {
  return [...offersOf(program, words), words.join.readySoon, words.join.noApp];
}

export function hero(joining: Joining): Html {
  const { program, words, logoUrl } = joining;
  return html`<div class="hero">
  ${logoUrl && html`<img class="logo" src="${logoUrl}" alt="">`}
  <h1>${words.join.title(program.passTemplate.logoText || program.name)}</h1>
  <ul class="perks">${perks(joining).map((perk) => html`<li>${tick}<span>${perk}</span></li>`)}</ul>
</div>`;
}

/** The form posts to the address of the page, so that query parameters such as `utm_source` are kept. */
function enrollForm(form: EnrollForm): Html {
  const { program, words, wrong, notice, mails } = form;
  const { join } = words;
  const { privacyUrl } = program.enrollment;
  const firstWrong = enrollFields(program).find((name) => wrong.includes(name));
  return html`<div class="join">${hero(form)}
<form method="post" novalidate>
${notice && html`<p class="summary" role="alert">${notice}</p>`}
${inputsOf(program).map((name) => field(name, form, name === firstWrong))}
${honeypotField}
${consent(form, firstWrong === 'consent')}
${marketing(form)}
<button type="submit">${join.button}</button>
<p class="note">${join.oneCard} ${mails && join.mailed}${
    privacyUrl && html` <a href="${privacyUrl}" rel="noopener">${join.privacy}</a>`
  }</p>
<p class="note"><a href="?lost">${join.lost}</a></p>
</form></div>`;
}

/** As it is opened, or with the mistakes of the form that was sent. */
export function enrollPage(form: Joining & Partial<EnrollForm>): Page {
  const { words, program, notice, values = {}, wrong = [] } = form;
  const { join, language } = words;
  const title = notice === undefined ? join.title(program.name) : join.check(program.name);
  return { title, language, program, body: enrollForm({ ...form, values, wrong }), shape: 'split' };
}
