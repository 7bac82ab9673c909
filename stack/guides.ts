// The pages of the site at /docs, in the order of its navigation: their names, and one line for machines that choose
// what to read (/llms.txt).
export const guides: Record<string, string> = {
  sdk: "the TypeScript client with a cash register's loop in twenty lines, and a command that brings events to a laptop",
  'cash-registers': 'which call a cash register makes for which input, what it repeats, its queue, undo',
  idempotency: 'how to repeat a request without doing it twice',
  till: 'a page for the counter, also without a line: connecting a device, scanning, giving, redeeming, undoing',
  'receiving-webhooks': 'verify and process webhooks, with receivers in Node, Python, Go and PHP',
  imports: 'bring members from a CSV file, and correct the rows that failed',
  wallets: 'credentials of Apple Wallet and Google Wallet, and virtual phones to try passes with',
  'program-file': 'every field of a program',
  'customers-data': 'which personal data is stored, for how long, and how a person is exported and erased',
  'going-live': 'from the demo to a production service',
  settings: 'every setting, its default and its meaning',
  operating: 'recipes for operators, backups, scaling',
  interface: 'the contract: every rule for callers, wallets, receivers and operators',
};

/** The file of a page, from the root of the repository. */
export const guideFile = (name: string): string => (name === 'sdk' ? 'sdk/README.md' : `docs/${name}.md`);
