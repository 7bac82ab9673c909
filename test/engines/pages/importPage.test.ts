// The page of imports as an owner walks it: what the columns are, who has no email, which cells are wrong, and how it ended.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  isTooWide,
  keepScreenshot,
  screens,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { type SmtpServer, startSmtpServer } from '../../rig/standins/smtpServer.js';
import { buttonOf as button, openConsole, type StartedConsole, startConsole } from '../../rig/start/console.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let smtp: SmtpServer;
let service: TestService;
let merchant: TestMerchant;
let programId: string;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;

beforeAll(async () => {
  if (!hasBrowser) return;
  smtp = await startSmtpServer();
  ({ service, browser, stop } = await startConsole({ env: { SMTP_URL: `smtp://127.0.0.1:${smtp.port}` } }));
});
afterAll(async () => {
  await stop?.();
  await smtp?.close();
});
beforeEach(async () => {
  if (!hasBrowser) return;
  merchant = await aMerchant(service);
  programId = (await merchant.program({ name: 'Corner Coffee' }))._id;
});

const people = [
  'Kundennummer;Vorname;Cognome;Adresse e-mail;Geburtstag;Schuhgröße',
  'K-1;Ada;Müller;ada@example.org;10.12.1815;37',
  'K-2;Grace;"Hopper";;;',
  'K-3;Alan;Turing;alan at example.org;;',
  'K-4;Emmy;Noether;;;',
].join('\r\n');
/** As an older spreadsheet writes it. */
const file = Buffer.from(people, 'latin1');

const words = {
  en: {
    new: 'New import',
    choose: 'Choose a file',
    unused: 'Left out, because members have no field for it: Geburtstag.',
    unknown: 'Left out, because its title is not known: Schuhgröße.',
    check: 'Check the file',
    import: 'Import',
    noMail: '2 of 3 have no email: no card can be mailed to them.',
    question: 'Import 3 people?',
    cancel: 'Cancel',
    now: 'Import 3 people',
    wrong: 'Would fail',
    mistake: 'Adresse e-mail: must be an email address',
    result: 'Result of the import',
    facts: ['Created3', 'Members already0', 'Failed1', 'Without email2'],
    mail: 'Mail their cards',
    made: '3 for Apple Wallet, 3 for Google Wallet',
    show: 'Show result',
    close: 'Close',
    dismiss: 'Close result',
    repair: 'Correct failed rows',
    again: 'Send again',
    allWrong: 'Import nothing yet, and correct the rows?',
    begin: 'Begin the import and correct its rows',
    beginInFile: 'Begin the import and get its rows as a file',
    inFile: 'Here at most 200 rows can be corrected.',
    correctInFile: 'Correct failed rows in a file',
    reason: 'Adresse e-mail: must be an email address (“alan at example.org”) – row 4 of the file',
    noneNew: 'This import would add no one: each row belongs to a member already, or would fail.',
  },
  de: {
    new: 'Neuer Import',
    choose: 'Datei auswählen',
    unused: 'Weggelassen, weil Mitglieder dafür kein Feld haben: Geburtstag.',
    unknown: 'Weggelassen, weil der Titel unbekannt ist: Schuhgröße.',
    check: 'Datei prüfen',
    import: 'Importieren',
    noMail: '2 von 3 haben keine E-Mail; an sie lässt sich keine Karte mailen.',
    question: '3 Personen importieren?',
    cancel: 'Abbrechen',
    now: '3 Personen importieren',
    wrong: 'Würden fehlschlagen',
    mistake: 'Adresse e-mail: muss eine E-Mail-Adresse sein',
    result: 'Ergebnis des Imports',
    facts: ['Angelegt3', 'Schon Mitglieder0', 'Fehlgeschlagen1', 'Ohne E-Mail2'],
    mail: 'Karten per E-Mail senden',
    made: '3 für Apple Wallet, 3 für Google Wallet',
    show: 'Ergebnis zeigen',
    close: 'Schließen',
    dismiss: 'Ergebnis schließen',
    repair: 'Fehlerhafte Zeilen korrigieren',
    again: 'Noch einmal senden',
    allWrong: 'Noch niemanden anlegen und die Zeilen korrigieren?',
    begin: 'Import beginnen und Zeilen korrigieren',
    beginInFile: 'Import beginnen und Zeilen als Datei holen',
    inFile: 'Hier lassen sich höchstens 200 Zeilen korrigieren.',
    correctInFile: 'Fehlerhafte Zeilen in einer Datei korrigieren',
    reason: 'Adresse e-mail: muss eine E-Mail-Adresse sein („alan at example.org“) – Zeile 4 der Datei',
    noneNew: 'Dieser Import würde niemanden anlegen: Jede Zeile gehört zu einem Mitglied oder würde fehlschlagen.',
  },
};

/** What of the actions in the last column stands on several lines without a box of its own. */
const brokenActions = `[...document.querySelectorAll('tbody td:last-child :is(a, button, span.hint)')]
  .filter((part) => part.getClientRects().length > 1 || getComputedStyle(part).display === 'inline')
  .map((part) => part.textContent)`;

async function choose(page: Page, label: string, buffer: Buffer): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await button(page, label).click();
  await (await chooser).setFiles({ name: 'kunden.csv', mimeType: 'text/csv', buffer });
}

// What each shows is looked at on both screens.
describe.runIf(hasBrowser).each([
  ['desktop', 'en'],
  ['phone', 'de'],
] as const)('an import on a %s in the language %s', (screen, language) => {
  const said = words[language];
  const open = () => {
    const locale = language === 'de' ? 'de-DE' : 'en-GB';
    return openConsole({ browser, service, merchant }, '/imports', { screen: { ...screens[screen], locale } });
  };
  const onBothScreens = async (page: Page, see: (seen: 'desktop' | 'phone') => Promise<void>) => {
    for (const seen of [screen === 'phone' ? 'desktop' : 'phone', screen] as const) {
      await page.setViewportSize(screens[seen].viewport);
      await see(seen);
    }
  };
  const look = (page: Page, what: string) =>
    onBothScreens(page, async (seen) => {
      expect([seen, await findBarriers(page)]).toEqual([seen, []]);
      expect([seen, await isTooWide(page)]).toEqual([seen, 0]);
      await keepScreenshot(page, `import-${what}-${seen}-${language}`);
    });

  it('says what is left out, who has no email and which cell is wrong before it begins, and then how it ended', async () => {
    const page = await open();
    await button(page, said.new).click();
    await choose(page, said.choose, file);
    await page.getByText(said.unused).waitFor();
    await page.getByText(said.unknown).waitFor();
    await button(page, said.check).click();
    await page.getByText(said.noMail).waitFor();
    const cells = page.getByRole('table', { name: said.wrong }).getByRole('cell');
    expect(await cells.allTextContents()).toEqual(['4', 'Adresse e-mail: alan at example.org', said.mistake]);
    expect(await cells.locator('mark').allTextContents()).toEqual(['alan at example.org']);
    await look(page, 'checked');

    await button(page, said.import).click();
    const dialog = page.getByRole('dialog', { name: said.question });
    await dialog.getByText(said.noMail).waitFor();
    await dialog.getByText(said.unused).waitFor();
    await look(page, 'asked');
    await dialog.getByRole('button', { name: said.cancel }).click();
    await dialog.waitFor({ state: 'detached' });
    const { batches } = service.deps.collections;
    expect(await batches.countDocuments({ merchantId: merchant.id })).toBe(0);
    // What was chosen is still there when the panel is opened again.
    await page.getByRole('dialog', { name: said.new }).getByRole('button', { name: said.close }).click();
    await button(page, said.new).click();
    await button(page, said.import).click();
    await dialog.getByRole('button', { name: said.now }).click();

    const result = page.getByRole('region', { name: said.result });
    const isTold = async (where = result) => {
      await where.getByText(said.unused).waitFor();
      await where.getByRole('button', { name: said.mail }).waitFor();
      await where.getByText(said.facts[3]?.replace(/\d/, '') ?? '').waitFor();
      const facts = await where.locator('.facts > div').allTextContents();
      expect(facts).toEqual(expect.arrayContaining(said.facts));
    };
    await isTold();
    await page.reload();
    await isTold();
    await look(page, 'ended');
    await page.getByRole('cell', { name: said.made }).waitFor();
    await page.getByRole('row').getByRole('button', { name: said.show }).click();
    const shown = page.getByRole('dialog', { name: said.result });
    await isTold(shown);
    await shown.getByRole('button', { name: said.close, exact: true }).click();
    await shown.waitFor({ state: 'detached' });

    await result.getByRole('button', { name: said.repair }).click();
    const repair = page.getByRole('dialog', { name: said.repair });
    await repair.getByText(said.reason).waitFor();
    expect(await repair.locator('[aria-invalid=true]').count()).toBe(1);
    expect(await repair.locator('[aria-invalid=true]').inputValue()).toBe('alan at example.org');
    await look(page, 'repair');
    await repair.getByRole('button', { name: said.cancel }).click();
    await repair.waitFor({ state: 'detached' });

    await result.getByRole('button', { name: said.dismiss }).click();
    await result.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('row').getByRole('button', { name: said.show }).waitFor();
    // No text of one action runs on between the others.
    await onBothScreens(page, async (seen) => {
      expect([seen, await page.evaluate(brokenActions)]).toEqual([seen, []]);
    });
    expect(await result.count()).toBe(0);
    await page.context().close();
  });

  it('whose rows are all wrong is corrected in place', async () => {
    const page = await open();
    await button(page, said.new).click();
    await choose(page, said.choose, Buffer.from('Kundennummer;Adresse e-mail\r\nK-1;ada at example.org\r\n'));
    await button(page, said.import).click();
    const question = page.getByRole('dialog', { name: said.allWrong });
    await question.getByText(said.noneNew).waitFor();
    await look(page, 'all-wrong');
    await question.getByRole('button', { name: said.begin }).click();
    const result = page.getByRole('region', { name: said.result });
    await result.getByRole('button', { name: said.repair }).click();
    const repair = page.getByRole('dialog', { name: said.repair });
    await repair.locator('[aria-invalid=true]').fill('ada@example.org');
    await repair.getByRole('button', { name: said.again }).click();
    await until(() => service.deps.collections.members.findOne({ merchantId: merchant.id, email: 'ada@example.org' }));
    await page.context().close();
  });

  it('with more wrong rows than a page corrects says before and after that they are corrected in a file', async () => {
    const page = await open();
    await button(page, said.new).click();
    const wrong = Array.from({ length: 201 }, (_, at) => `K-${at};ada at example.org\r\n`);
    await choose(page, said.choose, Buffer.from(`Kundennummer;Adresse e-mail\r\n${wrong.join('')}`));
    await button(page, said.import).click();
    const question = page.getByRole('dialog', { name: said.allWrong });
    await question.getByText(said.inFile).waitFor();
    await look(page, 'all-wrong-file');
    await question.getByRole('button', { name: said.beginInFile }).click();
    const result = page.getByRole('region', { name: said.result });
    await result.getByRole('link', { name: said.correctInFile }).waitFor();
    expect(await result.getByRole('button', { name: said.repair }).count()).toBe(0);
    await page.context().close();
  });

  it('that would add no one cannot be started, and says why', async () => {
    const page = await open();
    await merchant.enroll({ programId, externalId: 'K-1', email: 'ada@example.org' });
    await button(page, said.new).click();
    await choose(page, said.choose, Buffer.from('Kundennummer;Adresse e-mail\r\nK-1;ada@example.org\r\n'));
    await page.locator('select[name=programId]').selectOption(programId);
    await button(page, said.import).click();
    await page.getByText(said.noneNew).waitFor();
    expect(await button(page, said.import).isDisabled()).toBe(true);
    expect(await page.getByRole('dialog').count()).toBe(1);
    await look(page, 'empty');
    await page.context().close();
  });

  it('that is a workbook is refused in that language', async () => {
    const page = await open();
    await button(page, said.new).click();
    await choose(page, said.choose, Buffer.from('PK\x03\x04,rest', 'latin1'));
    await button(page, said.check).click();
    const sentence = { en: 'This is a workbook.', de: 'Das ist eine Arbeitsmappe.' }[language];
    await page.getByText(sentence).waitFor();
    await page.context().close();
  });
});

it.runIf(hasBrowser)('keeps the window of corrected rows open while its import moves to another page', async () => {
  const page = await openConsole({ browser, service, merchant }, '/imports');
  await button(page, words.en.new).click();
  await choose(page, words.en.choose, file);
  await button(page, words.en.import).click();
  await button(page, words.en.now).click();
  // By its place: what is behind a window has no role.
  const row = page.locator('td button').filter({ hasText: words.en.repair });
  await row.click();
  const window = page.getByRole('dialog', { name: words.en.repair });
  const wrong = window.locator('[aria-invalid=true]');
  await wrong.fill('alan@example.org');

  const { batches } = service.deps.collections;
  const first = await batches.findOne({ merchantId: merchant.id });
  if (!first) throw new Error('There is no import.');
  const later = Array.from({ length: 30 }, (_, at) => ({
    ...first,
    _id: crypto.randomUUID(),
    startedAt: new Date(first.startedAt.getTime() + 1_000 + at),
  }));
  await batches.insertMany(later.map((batch) => ({ ...batch, counts: { ...batch.counts, failed: 0 } })));
  await row.waitFor({ state: 'detached' });
  expect(await window.getByLabel('Adresse e-mail').inputValue()).toBe('alan@example.org');
  await window.getByRole('button', { name: words.en.cancel }).click();
  await window.waitFor({ state: 'detached' });
  await page.context().close();
});

it.runIf(hasBrowser)(
  'is one import when it is begun again because its answer was lost, however long after',
  async () => {
    const page = await openConsole({ browser, service, merchant }, '/imports');
    const { batches, idempotencyKeys, members } = service.deps.collections;
    let begun = 0;
    await page.route('**/merchants/me/imports?**', async (route) => {
      if (route.request().url().includes('dryRun')) return route.continue();
      begun += 1;
      if (begun > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await button(page, words.en.new).click();
    await choose(page, words.en.choose, Buffer.from('Kundennummer;Vorname\r\n;Ada\r\n;Grace\r\n'));
    await button(page, words.en.import).click();
    const now = page.getByRole('dialog', { name: 'Import 2 people?' }).getByRole('button', { name: 'Import 2 people' });
    await now.click();
    const batch = await until(() => batches.findOne({ merchantId: merchant.id, phase: 'completed' }));
    const createdAt = new Date(Date.now() - 600_000);
    await idempotencyKeys.updateOne({ merchantId: merchant.id, batchId: batch._id }, { $set: { createdAt } });
    await now.click();
    await page.getByRole('region', { name: words.en.result }).waitFor();
    expect(begun).toBe(2);
    expect(await batches.countDocuments({ merchantId: merchant.id })).toBe(1);
    expect(await members.countDocuments({ merchantId: merchant.id })).toBe(2);
    await page.context().close();
  },
);
