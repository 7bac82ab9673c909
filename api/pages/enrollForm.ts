// The merchant's public page: the program's fields and colours, errors beside the fields, and nothing that needs JavaScript.
import type { Program } from '../../schemas/programs.js';
import { type Html, html } from './html.js';

export interface EnrollForm {
  program: Program;
  action: string;
  values: Record<string, string>;
  errors: Record<string, string>;
  /** Said above the fields. */
  notice?: string;
}

const inputs = {
  email: { label: 'Email', type: 'email', autocomplete: 'email' },
  firstName: { label: 'First name', type: 'text', autocomplete: 'given-name' },
  lastName: { label: 'Last name', type: 'text', autocomplete: 'family-name' },
  phone: { label: 'Phone', type: 'tel', autocomplete: 'tel' },
} as const;

export type EnrollField = keyof typeof inputs;

function field(name: EnrollField, { values, errors }: EnrollForm): Html {
  const { label, type, autocomplete } = inputs[name];
  const error = errors[name];
  const required = name === 'email';
  return html`<div class="field">
  <label for="${name}">${label}${!required && ' (optional)'}</label>
  <input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${values[name] ?? ''}" maxlength="254"${
    required && html` required`
  }${error && html` aria-invalid="true" aria-describedby="${name}-error"`}>
  ${error && html`<p class="error" id="${name}-error">${label} ${error}</p>`}
</div>`;
}

export function enrollForm(form: EnrollForm): Html {
  const { program, action, notice } = form;
  const fields: EnrollField[] = [...program.enrollment.fields, 'email'];
  return html`<form method="post" action="${action}" novalidate>
<div class="brand"><h1>${program.passTemplate.logoText || program.name}</h1></div>
${notice && html`<p class="error" role="alert">${notice}</p>`}
${fields.map((name) => field(name, form))}
<button type="submit">Join</button>
<p class="note">Your card opens right away. It works in a browser, and in your phone's wallet where your merchant offers it.</p>
</form>`;
}

export function alreadyJoined(program: Program): Html {
  return html`<section role="status"><h1>You are in already</h1>
<p>That address has joined ${program.name} before. Open your card from the link you got then, or ask at the till with the same address.</p></section>`;
}
