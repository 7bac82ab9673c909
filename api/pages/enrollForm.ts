// The public enrollment page in the colours of its program, with errors next to their fields. It works without
// JavaScript.

import { Html, html } from '../../platform/html.js';
import type { Program } from '../../schemas/programs.js';
import { tick } from './icons.js';
import type { Page } from './layout.js';

export interface EnrollForm {
  program: Program;
  logoUrl: string | undefined;
  values: Record<string, string>;
  errors: Record<string, string>;
  /** Shown above the fields. */
  notice?: string;
}

const inputs = {
  email: { label: 'Email', type: 'email', autocomplete: 'email', wrong: 'Enter an email address like ada@example.com' },
  firstName: {
    label: 'First name',
    type: 'text',
    autocomplete: 'given-name',
    wrong: 'Enter a name of at most 100 letters',
  },
  lastName: {
    label: 'Last name',
    type: 'text',
    autocomplete: 'family-name',
    wrong: 'Enter a name of at most 100 letters',
  },
  phone: { label: 'Phone', type: 'tel', autocomplete: 'tel', wrong: 'Enter a phone number like +49 30 123456' },
} as const;

export type EnrollField = keyof typeof inputs;

/** A honeypot: people do not see this field, so a request that fills it in comes from a bot. */
export const honeypot = 'website';

const honeypotField = html`<div class="unseen" aria-hidden="true"><label for="${honeypot}">Leave this empty</label>
<input id="${honeypot}" name="${honeypot}" tabindex="-1" autocomplete="off"></div>`;

export const enrollFields = (program: Program): EnrollField[] => [...program.enrollment.fields, 'email'];

function field(name: EnrollField, { values, errors }: EnrollForm, isFirstWrong: boolean): Html {
  const { label, type, autocomplete, wrong } = inputs[name];
  const error = errors[name];
  const marked = error && html` aria-invalid="true" aria-describedby="${name}-error"`;
  return html`<div>
  <label for="${name}">${label}${name !== 'email' && html` <span>(optional)</span>`}</label>
  <input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${values[name] ?? ''}" maxlength="254"${
    name === 'email' && new Html(' required')
  }${isFirstWrong && new Html(' autofocus')}${marked}>
  ${error && html`<p class="error" id="${name}-error">${wrong}</p>`}
</div>`;
}

const tierNames = new Intl.ListFormat('en');

function perks({ style, goal, tiers, fields }: Program): string[] {
  const unit = fields.primaryLabel.toLowerCase();
  const promises = ['Your card is ready in seconds', 'No app to install'];
  if (tiers) return [`Rise through ${tierNames.format(tiers.map(({ name }) => name))}`, ...promises];
  const prize = style === 'stamps' ? `Collect ${goal} ${unit} for a reward` : `${goal} ${unit} bring you a reward`;
  return goal === undefined ? promises : [prize, ...promises];
}

function hero(program: Program, logoUrl: string | undefined): Html {
  return html`<div class="hero">
  ${logoUrl && html`<img class="logo" src="${logoUrl}" alt="">`}
  <h1>Join ${program.passTemplate.logoText || program.name}</h1>
  <ul class="perks">${perks(program).map((perk) => html`<li>${tick}<span>${perk}</span></li>`)}</ul>
</div>`;
}

/** The form posts to the address of the page, so that query parameters such as `utm_source` are kept. */
export function enrollForm(form: EnrollForm): Html {
  const { program, logoUrl, errors, notice } = form;
  const names = enrollFields(program);
  const firstWrong = names.find((name) => errors[name]);
  return html`<div class="join">${hero(program, logoUrl)}
<form method="post" novalidate>
${notice && html`<p class="summary" role="alert">${notice}</p>`}
${names.map((name) => field(name, form, name === firstWrong))}
${honeypotField}
<button type="submit">Get my card</button>
<p class="note">Your email keeps the card yours: one card for each address.</p>
</form></div>`;
}

/** The page as it is opened. */
export const enrollPage = (program: Program, logoUrl: string | undefined): Page => ({
  title: `Join ${program.name}`,
  program,
  body: enrollForm({ program, logoUrl, values: {}, errors: {} }),
  shape: 'split',
});

export function alreadyJoined(program: Program, logoUrl: string | undefined): Html {
  return html`<div class="join">${hero(program, logoUrl)}
<div class="said" role="status"><h2>You are in already</h2>
<p>This address joined before. Open your card from the link that you got then, or ask at the till.</p></div></div>`;
}
