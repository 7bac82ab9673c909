// The mail that invites a person to the console: who invites, what the role may do, and a link that works for a day.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { languages } from '../../../schemas/shared/languages/index.js';
import { until } from '../../rig/checks/until.js';
import { type SmtpServer, startSmtpServer } from '../../rig/standins/smtpServer.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { aUser, press, signedIn } from '../../rig/start/signIn.js';

let smtp: SmtpServer;
let service: TestService;
let merchant: TestMerchant;
let aheadMs = 0;

beforeAll(async () => {
  smtp = await startSmtpServer();
  const env = { SMTP_URL: `smtp://127.0.0.1:${smtp.port}` };
  service = await startService({ env, now: () => new Date(Date.now() + aheadMs) });
  merchant = await aMerchant(service);
});
afterAll(async () => {
  await service.stop();
  await smtp.close();
});

async function invited(email: string, roleIds: string[], language = 'en'): Promise<string> {
  const owner = await aUser(service.deps, { merchantId: merchant.id, email: `owner-${email}` });
  const credential = { ...(await signedIn(service, owner)), 'Accept-Language': language };
  const { status } = await merchant.call('/merchants/me/users', { body: { email, roleIds }, credential });
  expect(status).toBe(201);
  const mail = await until(() => smtp.mails.find(({ to }) => to.includes(email)));
  return mail.parsed.text ?? '';
}

it.each(languages)('says in %s who invites, and for how long', async (language) => {
  const email = `all-${language}@example.com`;
  const text = await invited(email, ['till'], language);
  expect(text).toContain(`owner-${email}`);
  expect(text).toContain('24');
});

it('says what the role may do, and names a role of the merchant', async () => {
  const _id = 'role-terrace';
  const permissions = ['merchants.members:view' as const];
  await service.deps.collections.roles.insertOne({ _id, merchantId: merchant.id, name: 'Terrace', permissions });
  expect(await invited('till@example.com', ['till'])).toContain('redeem rewards and undo at the till');
  expect(await invited('terrace@example.com', [_id])).toContain('Your role there is Terrace.');
  const owners = { _id: 'role-owners', merchantId: merchant.id, name: 'owner', permissions };
  await service.deps.collections.roles.insertOne(owners);
  const text = await invited('named-owner@example.com', [owners._id]);
  expect(text).toContain('Your role there is owner.');
  expect(text).not.toContain('everything');
});

it('works once, for a day', async () => {
  const tokenOf = (text: string) => /\/console\/sign-in\/([\w-]+)/.exec(text)?.[1] ?? '';
  const [soon, late] = [await invited('soon@example.com', ['viewer']), await invited('late@example.com', ['viewer'])];
  aheadMs = 23 * 3_600_000;
  expect((await press(service, tokenOf(soon))).status).toBe(303);
  const again = await press(service, tokenOf(soon));
  expect([again.status, await again.text()]).toEqual([410, expect.stringContaining('in an invitation for 24 hours')]);
  aheadMs = 25 * 3_600_000;
  expect((await press(service, tokenOf(late))).status).not.toBe(303);
  aheadMs = 0;
});
