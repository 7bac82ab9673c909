// The pages around the mailed link to a card: after joining, with a way to correct the address, and for a lost card.
import { type Html, html } from '../../platform/html.js';
import { type Card, virtualPhone } from './card.view.js';
import { type EnrollForm, field, hero, type Joining } from './enrollForm.view.js';
import type { Page } from './layout.view.js';
import { addresseeOf, type SentForm } from './sentForm.rules.js';

interface Sent extends Joining, Pick<Card, 'deskUrl'> {
  /** What was sent; undefined on the page that asks for the address of a lost card. */
  form: (Pick<EnrollForm, 'values' | 'wrong'> & Pick<SentForm, 'refusal' | 'sentTo'>) | undefined;
  /** Says why a form was refused, other than by a field. */
  notice?: string | undefined;
}

/** `act` tells the service which of the forms of the page is sent. */
function addressForm({ words, form, notice }: Sent, act: 'again' | 'lost', button: string): Html {
  const { values = {}, wrong = [] } = form ?? {};
  return html`<form method="post" novalidate>
${notice !== undefined && html`<p class="summary" role="alert">${notice}</p>`}
${field('email', { values, wrong, words }, wrong.includes('email'))}
<button type="submit" name="act" value="${act}">${button}</button>
</form>`;
}

const pageOf = (sent: Sent, { heading, said }: { heading: string; said: Html }): Page => ({
  title: `${heading} · ${sent.program.name}`,
  language: sent.words.language,
  program: sent.program,
  shape: 'split',
  body: html`<div class="join">${hero(sent)}<div>${said}</div></div>`,
});

/**
 * When links are mailed: the same page for everybody, whether the email was known or not. Otherwise the page for a
 * known email, because a new member gets the card at once.
 */
export function sentPage(sent: Sent): Page {
  const { words, mails, form } = sent;
  const { join } = words;
  const [heading, text] = mails
    ? [join.sent, join.sentTo(form ? addresseeOf(form) : '')]
    : [join.known, join.knownText];
  const said = html`<div class="said" role="status"><h2>${heading}</h2>
<p>${text}</p>${virtualPhone(sent)}</div>
${mails ? html`<details class="again" ${form?.wrong.length || sent.notice ? 'open' : ''}><summary>${join.wrongAddress}</summary>${addressForm(sent, 'again', join.sendAgain)}</details>` : html`<p class="said"><a href="?">${join.otherAddress}</a></p>`}`;
  return pageOf(sent, { heading, said });
}

/** Without mail, only the staff can find a card. */
export function lostPage(sent: Sent): Page {
  const { join } = sent.words;
  const said = html`<div class="said"><h2>${join.lost}</h2><p>${sent.mails ? join.lostText : join.lostAtTill}</p></div>
${sent.mails && addressForm(sent, 'lost', join.lostSend)}`;
  return pageOf(sent, { heading: join.lost, said });
}

export function mailedPage(sent: Sent): Page {
  const { join } = sent.words;
  const said = html`<div class="said" role="status"><h2>${join.sent}</h2>
<p>${join.lostSent(sent.form?.values.email ?? '')}</p>${virtualPhone(sent)}</div>
<details class="again"><summary>${join.wrongAddress}</summary>${addressForm(sent, 'lost', join.sendAgain)}</details>`;
  return pageOf(sent, { heading: join.sent, said });
}
