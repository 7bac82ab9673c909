// The mails that the demo wrote into its folder, for the live desk: what is new, and each as a page.
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import PostalMime from 'postal-mime';

export interface FoundMail {
  name: string;
  at: number;
  subject: string;
}

/** Mails from before the desk started. */
const shownAtFirst = 20;
const isMail = (name: string) => /^[\w.-]+\.eml$/.test(name);

/** A mail is somebody else's HTML: it runs no script, loads nothing, and stands in no other page. */
const policy = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The name of a file begins with the time of the mail, with `-` in place of `:`. */
const timeOf = (name: string): number =>
  Date.parse(name.replace(/^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z).*$/, '$1:$2:$3')) || Date.now();

export function createMails(folder: string) {
  let seen: Set<string> | undefined;
  const read = async (name: string) => PostalMime.parse(await readFile(join(folder, name)));
  return {
    /** The mails since the last call, oldest first; the first call finds the newest that are there. */
    async newMails(): Promise<FoundMail[]> {
      const names = (await readdir(folder).catch(() => [])).filter(isMail).toSorted();
      const found = seen ? names.filter((name) => !seen?.has(name)) : names.slice(-shownAtFirst);
      seen = new Set(names);
      const mails = found.map(async (name) => ({ name, at: timeOf(name), subject: (await read(name)).subject ?? '' }));
      // A mail about an erased person is removed.
      return (await Promise.all(mails.map((mail) => mail.catch(() => undefined)))).filter((mail) => mail !== undefined);
    },

    /** Answers with the mail as a page; 404 when there is none of this name. */
    async answer(name: string, response: ServerResponse): Promise<void> {
      const mail = isMail(name) ? await read(name).catch(() => undefined) : undefined;
      if (!mail) return void response.writeHead(404).end();
      const type = mail.html === undefined ? 'text/plain' : 'text/html';
      response.writeHead(200, {
        'Content-Type': `${type}; charset=utf-8`,
        'Content-Security-Policy': policy,
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cache-Control': 'no-store',
      });
      response.end(mail.html ?? mail.text ?? '');
    },
  };
}
