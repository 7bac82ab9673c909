// A mail to a real SMTP server: TLS, authentication, refusals, and servers that are unavailable or hang; and a mail to
// a folder.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import type { SMTPServerOptions } from 'smtp-server';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createMailer,
  type Mail,
  MailDelayed,
  type Mailer,
  MailRefused,
} from '../../../activities/mail/mailer.client.js';
import { createTestAuthority, type TestAuthority } from '../../rig/standins/certificates.js';
import { type SmtpServer, startSmtpServer } from '../../rig/standins/smtpServer.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

let authority: TestAuthority;
beforeAll(() => {
  authority = createTestAuthority();
});

const settings = { PUBLIC_URL: 'https://cards.example.com', SMTP_TIMEOUT_MS: 5_000 };
const mailer = (given: Partial<Parameters<typeof createMailer>[0]>): Mailer => {
  const made = createMailer({
    SMTP_URL: undefined,
    SMTP_CA: undefined,
    MAIL_FROM: undefined,
    MAIL_FOLDER: undefined,
    ...settings,
    ...given,
  });
  if (!made) throw new Error('The settings name neither a server nor a folder.');
  return made;
};

const mail: Mail = {
  id: '0b0e4f59-8a38-4c5e-8f7f-1d102c5e2f7f',
  kind: 'card-link',
  memberId: 'b7d9f1f6-9b0e-4f59-8a38-2c5e2f7f1d10',
  createdAt: new Date('2026-11-23T08:00:00Z'),
  to: 'ada@example.org',
  fromName: 'Café "Ada", Zürich',
  subject: 'Ihre Karte: Café Ada',
  text: 'Grüße\n\nhttps://cards.example.com/passes/abc\n',
  html: '<!doctype html><p>Grüße',
};

const send = (to: Mailer, changed: Partial<Mail> = {}) =>
  to.send({ ...mail, ...changed }, new AbortController().signal);

async function serve(...given: Parameters<typeof startSmtpServer>): Promise<SmtpServer> {
  const server = await startSmtpServer(...given);
  closing.push(() => server.close());
  return server;
}

const tls = () => authority.issue(['127.0.0.1', 'localhost']);
const withAuth: SMTPServerOptions = {
  authOptional: false,
  onAuth: ({ username, password }, _session, callback) =>
    username === 'mailer' && password === 'p@ss/word'
      ? callback(null, { user: username })
      : callback(Object.assign(new Error('Wrong password for mailer'), { responseCode: 535 })),
};

describe('an SMTP server', () => {
  it('gets the mail as plain text and HTML, with sender, date and an id of its own', async () => {
    const server = await serve();
    await send(mailer({ SMTP_URL: `smtp://127.0.0.1:${server.port}` }));
    expect(server.mails).toHaveLength(1);
    const [got] = server.mails;
    expect(got).toMatchObject({ from: 'no-reply@cards.example.com', to: ['ada@example.org'], secure: false });
    expect(got?.parsed).toMatchObject({
      from: { name: 'Café "Ada", Zürich', address: 'no-reply@cards.example.com' },
      to: [{ address: 'ada@example.org' }],
      subject: 'Ihre Karte: Café Ada',
      messageId: `<${mail.id}@cards.example.com>`,
      date: '2026-11-23T08:00:00.000Z',
    });
    expect(got?.parsed.text?.trim()).toBe(mail.text.trim());
    expect(got?.parsed.html?.trim()).toBe(mail.html);
    expect(got?.parsed.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
  });

  it('that offers STARTTLS gets the mail encrypted', async () => {
    const server = await serve({ ...tls(), disabledCommands: [] });
    await send(mailer({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, SMTP_CA: authority.ca }));
    expect(server.mails.map(({ secure }) => secure)).toEqual([true]);
  });

  it('of smtps:// gets the mail over TLS', async () => {
    const server = await serve({ ...tls(), secure: true });
    await send(mailer({ SMTP_URL: `smtps://localhost:${server.port}`, SMTP_CA: authority.ca }));
    expect(server.mails.map(({ secure }) => secure)).toEqual([true]);
  });

  it.each([
    ['of an unknown authority', 'smtp', () => tls(), undefined],
    ['of an unknown authority', 'smtps', () => tls(), undefined],
    ['for another name', 'smtps', () => authority.issue(['mail.example.com']), 'ca'],
    [
      'that is over',
      'smtp',
      () => authority.issue(['127.0.0.1'], { notBefore: new Date(0), notAfter: new Date(86_400_000) }),
      'ca',
    ],
  ])('with a certificate %s gets nothing (%s)', async (_what, protocol, issue, trusted) => {
    const server = await serve({ ...issue(), disabledCommands: [], secure: protocol === 'smtps' });
    const to = mailer({
      SMTP_URL: `${protocol}://127.0.0.1:${server.port}`,
      ...(trusted && { SMTP_CA: authority.ca }),
    });
    await expect(send(to)).rejects.toThrow(MailDelayed);
    expect(server.mails).toEqual([]);
  });

  it('gets user and password of the address, percent-decoded', async () => {
    const server = await serve({ ...withAuth, ...tls(), disabledCommands: [] });
    const url = `smtp://mailer:p%40ss%2Fword@127.0.0.1:${server.port}`;
    await send(mailer({ SMTP_URL: url, SMTP_CA: authority.ca }));
    expect(server.mails.map(({ user, secure }) => [user, secure])).toEqual([['mailer', true]]);
  });

  it('that refuses the password needs a correction: the mail waits', async () => {
    const server = await serve({ ...withAuth, ...tls(), disabledCommands: [] });
    const to = mailer({ SMTP_URL: `smtp://mailer:wrong@127.0.0.1:${server.port}`, SMTP_CA: authority.ca });
    await expect(send(to)).rejects.toThrow(new MailDelayed('AUTH PLAIN 535'));
    expect(server.mails).toEqual([]);
  });

  it('on a remote host without TLS never gets the password', async () => {
    const seen: (string | undefined)[] = [];
    const options: SMTPServerOptions = {
      allowInsecureAuth: true,
      onAuth({ username }, _session, callback) {
        seen.push(username);
        callback(null, { user: 'mailer' });
      },
    };
    // Any name but the three of loopback counts as a remote host.
    const elsewhere = await serve(options, { host: '127.1.1.1' });
    const here = await serve(options);
    await expect(send(mailer({ SMTP_URL: `smtp://far:b@127.1.1.1:${elsewhere.port}` }))).rejects.toThrow(MailDelayed);
    await send(mailer({ SMTP_URL: `smtp://near:b@127.0.0.1:${here.port}` }));
    expect([seen, elsewhere.connections(), elsewhere.mails]).toEqual([['near'], 1, []]);
  });

  it.each([
    [550, '5.1.1 <ada@example.org>: no such user', MailRefused, 'RCPT TO 550 5.1.1'],
    [450, '4.2.1 <ada@example.org>: greylisted', MailDelayed, 'RCPT TO 450 4.2.1'],
  ])('that answers %i to the recipient is reported only by its codes', async (responseCode, message, kind, reason) => {
    const server = await serve();
    server.judge(() => ({ responseCode, message }));
    await expect(send(mailer({ SMTP_URL: `smtp://127.0.0.1:${server.port}` }))).rejects.toThrow(
      expect.objectContaining({ constructor: kind, message: reason }),
    );
  });

  it.each([
    [554, MailRefused],
    [451, MailDelayed],
  ])('that answers %i to the content decides in the same way', async (responseCode, kind) => {
    const server = await serve();
    server.judgeContent(() => ({ responseCode, message: 'Not this one.' }));
    await expect(send(mailer({ SMTP_URL: `smtp://127.0.0.1:${server.port}` }))).rejects.toThrow(
      expect.objectContaining({ constructor: kind, message: `DATA ${responseCode}` }),
    );
  });

  it('that refuses the connection needs a correction: the mail waits', async () => {
    const server = await serve({
      onConnect: (_session, callback) => callback(Object.assign(new Error('Blocked'), { responseCode: 554 })),
    });
    await expect(send(mailer({ SMTP_URL: `smtp://127.0.0.1:${server.port}` }))).rejects.toThrow(MailDelayed);
  });

  it('that is unavailable is tried later', async () => {
    const { port, close } = await startSmtpServer();
    await close();
    await expect(send(mailer({ SMTP_URL: `smtp://127.0.0.1:${port}` }))).rejects.toThrow(
      new MailDelayed('ECONNREFUSED'),
    );
  });

  it.each([
    ['says nothing', (_socket: Socket) => {}],
    [
      'answers without an end',
      (socket: Socket) => {
        socket.write('220 Hello\r\n');
        socket.once('data', () => {
          socket.write('250-');
          const timer = setInterval(() => socket.write('.'), 100);
          socket.on('close', () => clearInterval(timer));
        });
      },
    ],
  ])('that %s is left when the time is over', async (_what, answer) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => {}));
      answer(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const to = mailer({ SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_TIMEOUT_MS: 1_000 });
    await expect(send(to)).rejects.toThrow(MailDelayed);
  });
});

describe('a mail folder', () => {
  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-mail-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    return join(folder, 'mail');
  };

  it('gets one file for each mail, also when the mail is sent twice', async () => {
    const folder = newFolder();
    const to = mailer({ MAIL_FOLDER: folder, PUBLIC_URL: 'http://127.0.0.1:3000' });
    await send(to);
    await send(to);
    const files = readdirSync(folder);
    expect(files).toEqual([`2026-11-23T08-00-00.000Z.card-link.${mail.memberId}.${mail.id}.eml`]);
    const parsed = await PostalMime.parse(readFileSync(join(folder, files[0] ?? '')));
    expect(parsed).toMatchObject({ to: [{ address: mail.to }], from: { address: 'no-reply@localhost' } });
    expect(parsed.text?.trim()).toBe(mail.text.trim());
  });

  it('keeps no mail about an erased person, and all others', async () => {
    const folder = newFolder();
    const to = mailer({ MAIL_FOLDER: folder });
    await send(to);
    await send(to, { id: 'second' });
    await send(to, { id: 'third', memberId: 'another' });
    await to.forget([mail.memberId ?? '']);
    expect(readdirSync(folder).map((name) => name.split('.').at(-2))).toEqual(['third']);
    await to.forget(['third']);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not have to exist for a removal', async () => {
    await expect(mailer({ MAIL_FOLDER: newFolder() }).forget(['nobody'])).resolves.toBeUndefined();
  });
});
