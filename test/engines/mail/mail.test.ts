// Mails from the queue to a real SMTP server: once for each reason, within the limits, retried when the server does not
// accept them, and without personal data in rows, histories and logs.
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eraseMails } from '../../../activities/mail/eraseMails.writes.js';
import { type QueueMail, queueMail } from '../../../activities/mail/queueMail.writes.js';
import { reviveMails } from '../../../activities/mail/reviveMails.activity.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { mailWorkflowId, newId } from '../../../schemas/shared/ids.js';
import { languages } from '../../../schemas/shared/languages/index.js';
import { until } from '../../rig/checks/until.js';
import { type SmtpServer, startSmtpServer } from '../../rig/standins/smtpServer.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

const timeoutMs = 2_000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
let smtp: SmtpServer;
let service: TestService;
let worker: TestWorker;
let merchant: TestMerchant;
let program: Program;

beforeAll(async () => {
  smtp = await startSmtpServer();
  service = await startService({
    env: {
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
      SMTP_TIMEOUT_MS: String(timeoutMs),
      MAIL_PER_PROGRAM_A_MINUTE: '8',
      MAIL_FROM: 'cards@example.com',
      SIGN_IN_LINK_MS: '1200000',
    },
  });
  worker = await startTestWorker(service);
  await until(() => worker.deps.workflowClient.available());
});
afterAll(async () => {
  await worker.close();
  await service.stop();
  await smtp.close();
});
beforeEach(async () => {
  merchant = await aMerchant(service);
  program = await merchant.program({ name: 'Corner Coffee', language: 'de' });
  smtp.judge(() => undefined);
  smtp.judgeContent(() => undefined);
});

const newAddress = () => `${newId()}@example.org`;
const rows = () => service.deps.collections.mails.find({ merchantId: merchant.id }).toArray();
const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));

const signIn = (given: Partial<QueueMail> = {}): QueueMail => ({
  merchantId: merchant.id,
  to: newAddress(),
  reason: newId(),
  kind: 'sign-in',
  language: 'en',
  data: { link: 'https://cards.example.com/sign-in/secret-link', merchantName: 'Corner Coffee' },
  ...given,
});

/** The final state of the only mail of the merchant. */
const ended = () =>
  until(async () => {
    const [row] = await rows();
    return row && row.state !== 'queued' && row;
  });

const join = (email: string, firstName = 'Mallory') =>
  merchant.call(`/enroll/${program.slug}/submit`, { body: { email, firstName }, credential: null });

it('a mail with a sign-in link says how long the link works, in each language', async () => {
  for (const language of languages) {
    const wanted = signIn({ language });
    await queueMail(worker.deps, wanted);
    const [mail] = await until(() => mailsTo(wanted.to).length > 0 && mailsTo(wanted.to));
    expect(mail?.parsed.text).toMatch(/ 20 min/i);
  }
});

describe('a public enrollment', () => {
  it('mails the link to the card, in the language of the program, and greets by name', async () => {
    const email = newAddress();
    const { body } = await join(email);
    const [mail] = await until(() => mailsTo(email).length > 0 && mailsTo(email));
    expect(mail?.parsed).toMatchObject({
      from: { name: 'Corner Coffee', address: 'cards@example.com' },
      subject: 'Ihre Karte: Corner Coffee',
    });
    for (const content of [mail?.parsed.text, mail?.parsed.html]) {
      expect(content).toContain(body.data.apple.passUrl);
      expect(content).toContain('Hallo Mallory,');
    }
    const row = await ended();
    expect(row).toMatchObject({ state: 'sent', kind: 'card-link', programId: program._id, attempts: 1 });
    expect(Object.keys(row)).not.toEqual(expect.arrayContaining(['sealed']));
    expect(row).not.toHaveProperty('dueAt');
  });

  it('greets nobody by a first name that says something else, because anybody can enter any address', async () => {
    for (const firstName of [
      'See evil.example',
      'Call +49 30 1',
      'You have won a prize',
      'https://x.example',
      'A'.repeat(31),
    ]) {
      const email = newAddress();
      expect((await join(email, firstName)).status).toBe(201);
      const [mail] = await until(() => mailsTo(email).length > 0 && mailsTo(email));
      for (const content of [mail?.parsed.text, mail?.parsed.html]) {
        expect(content).toContain('Hallo,');
        expect(content).not.toContain(firstName);
      }
    }
    const email = newAddress();
    await join(email, 'Anne-Sophie O’Neill');
    const [mail] = await until(() => mailsTo(email).length > 0 && mailsTo(email));
    expect(mail?.parsed.text).toContain('Hallo Anne-Sophie O’Neill,');
  });

  it('with a known email mails the current link, and its answer contains no data of the member', async () => {
    const email = newAddress();
    const first = await join(email);
    await until(() => mailsTo(email).length === 1);
    const member = await service.deps.collections.members.findOne({ programId: program._id, email });
    const { body } = await merchant.call(`/merchants/me/members/${member?._id}/card-link`, { method: 'POST' });
    const again = await join(email.toUpperCase());
    expect([again.status, again.body.data]).toEqual([200, { deduped: true }]);
    const [, second] = await until(() => mailsTo(email).length === 2 && mailsTo(email));
    expect(second?.parsed.text).toContain(body.data.apple.passUrl);
    expect(second?.parsed.text).not.toContain(first.body.data.apple.passUrl);
  });

  it('mails a person who joins again at most once an hour, and one address at most three card links', async () => {
    const email = newAddress();
    await join(email);
    const answers = await Promise.all(Array.from({ length: 6 }, () => join(email)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    await until(() => mailsTo(email).length === 2);
    expect(await rows()).toHaveLength(2);
    const { _id: programId } = await merchant.program();
    const elsewhere = signIn({ to: email, kind: 'card-link', memberId: newId(), programId });
    expect(await queueMail(worker.deps, elsewhere)).toBe('queued');
    const inAnHour = { ...worker.deps, now: () => new Date(Date.now() + hourMs + 1_000) };
    const later = signIn({ to: email, kind: 'card-link', memberId: newId(), programId: program._id });
    expect(await queueMail(worker.deps, later)).toBe('limited');
    expect(await queueMail(inAnHour, later)).toBe('queued');
  });
});

describe('a public enrollment beyond the mails of its program in a minute', () => {
  it('is mailed as soon as the limit allows', async () => {
    const almostAMinuteAgo = new Date(Date.now() - minuteMs + 5_000);
    const earlier = { ...worker.deps, now: () => almostAMinuteAgo };
    const others = await Promise.all(
      Array.from({ length: 8 }, () => queueMail(earlier, signIn({ programId: program._id }))),
    );
    expect(others).toEqual(Array(8).fill('queued'));
    const email = newAddress();
    expect((await join(email)).status).toBe(201);
    await until(() => mailsTo(email).length === 1);
    const row = await until(async () =>
      (await rows()).find(({ kind, state }) => kind === 'card-link' && state === 'sent'),
    );
    expect(row.attempts).toBe(1);
    expect(row.sentAt?.getTime()).toBeGreaterThanOrEqual(almostAMinuteAgo.getTime() + minuteMs);
  });
});

describe('a queue of mails', () => {
  it('accepts one mail an hour for the same reason, also for concurrent requests', async () => {
    const wanted = signIn();
    const queued = await Promise.all(Array.from({ length: 5 }, () => queueMail(worker.deps, wanted)));
    expect(queued.toSorted()).toEqual(['queued', ...Array(4).fill('repeated')]);
    await ended();
    expect(mailsTo(wanted.to)).toHaveLength(1);
    expect(await queueMail(worker.deps, wanted)).toBe('repeated');
    const inAnHour = { ...worker.deps, now: () => new Date(Date.now() + hourMs + 1_000) };
    expect(await queueMail(inAnHour, wanted)).toBe('queued');
  });

  it('takes three mails of a kind for one address from all merchants, and so many a minute for one program', async () => {
    const to = newAddress();
    const elsewhere = (await aMerchant(service)).id;
    const toOne = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        queueMail(worker.deps, signIn({ to, ...(index % 2 === 0 && { merchantId: elsewhere }) })),
      ),
    );
    expect(toOne.toSorted()).toEqual([...Array(3).fill('limited'), ...Array(3).fill('queued')]);
    const { _id: programId } = await merchant.program();
    const now = new Date();
    const offline = { ...worker.deps.workflowClient, available: () => false };
    const deps = { ...worker.deps, workflowClient: offline, now: () => now };
    const ofOne = await Promise.all(Array.from({ length: 18 }, () => queueMail(deps, signIn({ programId }))));
    expect(ofOne).toEqual(Array(18).fill('queued'));
    const starts = (await rows()).flatMap((row) =>
      row.programId === programId ? [row.leasedUntil.getTime() - now.getTime()] : [],
    );
    expect(starts.toSorted((a, b) => a - b)).toEqual([
      ...Array(8).fill(0),
      ...Array(8).fill(minuteMs),
      ...Array(2).fill(2 * minuteMs),
    ]);
  });

  it('refuses a mail that would wait for its program longer than MAIL_MAX_WAIT_MS, or than its link allows', async () => {
    const config = { ...worker.deps.config, MAIL_PER_PROGRAM_A_MINUTE: 1, MAIL_MAX_WAIT_MS: 7 * minuteMs };
    const now = new Date();
    const offline = { ...worker.deps.workflowClient, available: () => false };
    const deps = { ...worker.deps, config, workflowClient: offline, now: () => now };
    for (const [kind, accepted] of [
      ['sign-in', 6],
      ['card-link', 8],
    ] as const) {
      const programId = newId();
      const queued = [];
      for (let times = 0; times < 9; times += 1)
        queued.push(await queueMail(deps, signIn({ kind, programId, memberId: newId() })));
      expect(queued).toEqual([...Array(accepted).fill('queued'), ...Array(9 - accepted).fill('limited')]);
    }
  });

  it('takes no kind of mail away from another, and refuses a sign-in link only while mailed ones work', async () => {
    const to = newAddress();
    const kinds = ['card-link', 'invitation', 'sign-in'] as const;
    const wanted = (kind: QueueMail['kind']) => signIn({ to, kind, memberId: newId(), programId: newId() });
    for (const kind of kinds) {
      const queued = [];
      for (let times = 0; times < 4; times += 1) queued.push(await queueMail(worker.deps, wanted(kind)));
      expect([kind, ...queued]).toEqual([kind, 'queued', 'queued', 'queued', 'limited']);
    }
    const { SIGN_IN_LINK_MS } = worker.deps.config;
    const afterwards = { ...worker.deps, now: () => new Date(Date.now() + SIGN_IN_LINK_MS) };
    const later = await Promise.all(kinds.map((kind) => queueMail(afterwards, wanted(kind))));
    expect(later).toEqual(['limited', 'limited', 'queued']);
  });

  it('stores address and link so that only SECRETS_KEY opens them, and counts by keyed digests', async () => {
    await service.stopWorker();
    const wanted = signIn();
    await queueMail(worker.deps, wanted);
    const counts = await service.deps.collections.mailCounts.find({}).toArray();
    const stored = JSON.stringify([await rows(), counts]);
    expect(counts.length).toBeGreaterThan(2);
    for (const secret of [wanted.to, 'secret-link', wanted.reason]) expect(stored).not.toContain(secret);
    await service.startWorker();
    await ended();
  });

  it('is off without a server and without a folder', async () => {
    const off = { ...worker.deps, config: { ...worker.deps.config, SMTP_URL: undefined } };
    expect(await queueMail(off, signIn())).toBe('off');
    expect(await rows()).toEqual([]);
  });
});

describe('a mail', () => {
  it('that the server does not accept now is sent later, once', async () => {
    const wanted = signIn();
    let refused = 0;
    smtp.judge((address) => {
      if (address !== wanted.to) return undefined;
      refused += 1;
      return refused < 3 ? { responseCode: 451, message: '4.7.1 Greylisted, come back' } : undefined;
    });
    await queueMail(worker.deps, wanted);
    expect(await ended()).toMatchObject({ state: 'sent', attempts: 3 });
    expect(mailsTo(wanted.to)).toHaveLength(1);
  });

  it('whose recipient is refused is given up, without personal data in the row, the workflow or the log', async () => {
    const wanted = signIn();
    smtp.judge((address) =>
      address === wanted.to ? { responseCode: 550, message: `5.1.1 <${address}> is unknown here` } : undefined,
    );
    await queueMail(worker.deps, wanted);
    const row = await ended();
    expect(row).toMatchObject({ state: 'failed', failure: 'RCPT TO 550 5.1.1', attempts: 1 });
    const handle = service.client.workflow.getHandle(mailWorkflowId(merchant.id, row._id));
    await expect(handle.result()).rejects.toThrow();
    const history = historyToJSON(await handle.fetchHistory());
    const payloads = [...history.matchAll(/"data": ?"([^"]+)"/g)].map(([, data = '']) => atob(data)).join('\n');
    expect(payloads).toContain(row._id);
    for (const text of [JSON.stringify(row), history, payloads])
      for (const secret of [wanted.to, 'secret-link']) expect(text).not.toContain(secret);
  });

  it('to a server that hangs and is then unavailable arrives when it is back', async () => {
    const wanted = signIn();
    const { port } = smtp;
    let hung = 0;
    smtp.judgeContent(async ({ to }) => {
      if (!to.includes(wanted.to)) return undefined;
      hung += 1;
      await new Promise((resolve) => setTimeout(resolve, 2 * timeoutMs));
      return { responseCode: 451, message: 'Too late.' };
    });
    await queueMail(worker.deps, wanted);
    await until(() => hung === 1);
    await smtp.close();
    await until(async () => (await rows())[0]?.failure === 'ECONNREFUSED');
    smtp = await startSmtpServer({}, { port });
    expect(await ended()).toMatchObject({ state: 'sent' });
    expect(mailsTo(wanted.to)).toHaveLength(1);
  });

  it('whose workflow is lost or was never started is still sent', async () => {
    const wanted = signIn();
    const unavailable = { ...worker.deps.workflowClient, available: () => false };
    await queueMail({ ...worker.deps, workflowClient: unavailable }, wanted);
    await reviveMails(worker.deps);
    expect((await rows()).map(({ state }) => state)).toEqual(['queued']);
    const later = { ...worker.deps, now: () => new Date(Date.now() + 600_000) };
    await until(async () => {
      await reviveMails(later);
      return (await rows())[0]?.state === 'sent';
    });
    expect(mailsTo(wanted.to)).toHaveLength(1);
  });

  it.each([
    ['takes', undefined],
    ['refuses', { responseCode: 550, message: 'No.' }],
    ['delays', { responseCode: 451, message: 'Later.' }],
  ])('that ended meanwhile keeps that end when the server %s it', async (_what, answer) => {
    const end = { state: 'failed' as const, failure: 'TOO_LATE' };
    let answered = false;
    smtp.judgeContent(async () => {
      await service.deps.collections.mails.updateOne({ merchantId: merchant.id }, { $set: end });
      answered = true;
      return answer;
    });
    await queueMail(worker.deps, signIn());
    await until(() => answered);
    const [row] = await rows();
    const handle = service.client.workflow.getHandle(mailWorkflowId(merchant.id, row?._id ?? ''));
    await handle.result().catch(() => {});
    expect(await rows()).toEqual([expect.objectContaining({ ...end, leasedUntil: row?.leasedUntil })]);
  });

  it('that has expired is not sent', async () => {
    const longAgo = { ...worker.deps, now: () => new Date(Date.now() - 16 * 60_000) };
    const wanted = signIn();
    await queueMail(longAgo, wanted);
    expect(await ended()).toMatchObject({ state: 'failed', failure: 'TOO_LATE' });
    expect(mailsTo(wanted.to)).toEqual([]);
  });

  it('with the link to a card goes only to the address that the member has', async () => {
    const [mistyped, right] = [newAddress(), newAddress()];
    const { id: memberId } = await merchant.enroll({ programId: program._id, email: mistyped });
    smtp.judge((address) => (address === mistyped ? { responseCode: 451, message: 'Not now.' } : undefined));
    await queueMail(worker.deps, signIn({ to: mistyped, kind: 'card-link', memberId, programId: program._id }));
    await until(async () => (await rows())[0]?.failure !== undefined);
    await merchant.call(`/merchants/me/members/${memberId}`, { method: 'PATCH', body: { email: right } });
    smtp.judge(() => undefined);
    expect(await ended()).toMatchObject({ state: 'failed', failure: 'MEMBER_GONE' });
    expect(mailsTo(mistyped)).toEqual([]);
    await queueMail(worker.deps, signIn({ to: right, kind: 'card-link', memberId, programId: program._id }));
    await until(() => mailsTo(right).length === 1);
  });

  it('about an erased member is not sent, and leaves no row', async () => {
    const to = newAddress();
    const { id: memberId } = await merchant.enroll({ programId: program._id, email: to });
    const wanted = signIn({ to, kind: 'card-link', memberId, programId: program._id });
    smtp.judge((address) => (address === wanted.to ? { responseCode: 451, message: 'Not now.' } : undefined));
    await queueMail(worker.deps, wanted);
    const [row] = await until(async () => {
      const found = await rows();
      return found[0]?.failure !== undefined && found;
    });
    await eraseMails(worker.deps, { merchantId: merchant.id, memberId, programId: program._id, emails: [] });
    smtp.judge(() => undefined);
    const handle = service.client.workflow.getHandle(mailWorkflowId(memberId, row?._id ?? ''));
    expect(await handle.result()).toEqual({ state: 'removed' });
    expect([await rows(), mailsTo(wanted.to)]).toEqual([[], []]);
  });
});
