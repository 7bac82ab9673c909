// A service with real wallets against stand-ins of Apple and Google that speak the real protocols, and customers who
// join through the public page: with its form, its redirect and the links on the web card.

import { type ApnsServer, startApnsServer } from '../standins/apnsServer.js';
import { type AppleCertificates, makeAppleCertificates } from '../standins/appleCertificates.js';
import { type GoogleServer, startGoogleServer } from '../standins/googleServer.js';
import { createVirtualGoogleWallet, type VirtualGoogleWallet } from '../standins/virtualGoogleWallet.js';
import { createVirtualIphone, type VirtualIphone } from '../standins/virtualIphone.js';
import { aMerchant, type TestMerchant } from './merchant.js';
import { startService, type TestService } from './service.js';

export interface RealWallets {
  service: TestService;
  merchant: TestMerchant;
  certificates: AppleCertificates;
  apns: ApnsServer;
  google: GoogleServer;
  customer: VirtualGoogleWallet;
  phone: () => VirtualIphone;
  stop: () => Promise<void>;
}

export interface RealWalletsOptions {
  env?: Record<string, string>;
  /** Pushes authenticate with a `.p8` key instead of the pass certificate. */
  pushKey?: boolean;
  /** The clock of the service. */
  now?: () => Date;
}

/** One set for all files of a fork. */
let certificatesOfFork: Promise<AppleCertificates> | undefined;

export async function startRealWallets({ env = {}, pushKey, now }: RealWalletsOptions = {}): Promise<RealWallets> {
  certificatesOfFork ??= makeAppleCertificates();
  const [certificates, google] = await Promise.all([certificatesOfFork, startGoogleServer()]);
  const apns = await startApnsServer(certificates);
  const settings = Object.fromEntries(
    Object.entries(certificates.settings).map(([name, value]) => [name, value ?? '']),
  );
  const byKey = pushKey && { APNS_KEY: certificates.apnsKey, APNS_KEY_ID: certificates.apnsKeyId };
  const service = await startService({
    env: { ...settings, APNS_ORIGIN: apns.origin, APNS_CA: apns.ca, ...byKey, ...google.settings, ...env },
    ...(now && { now }),
  });
  const merchant = await aMerchant(service);
  const phones: VirtualIphone[] = [];
  return {
    service,
    merchant,
    certificates,
    apns,
    google,
    customer: createVirtualGoogleWallet(google),
    phone() {
      const phone = createVirtualIphone({ apns, wwdrCert: certificates.wwdrCert, retryWaitsMs: [20, 50] });
      phones.push(phone);
      return phone;
    },
    async stop() {
      for (const phone of phones) phone.close();
      await service.stop();
      await apns.close();
      await google.close();
    },
  };
}

export interface Joined {
  /** The address of the web card. */
  cardUrl: string;
  /** The link of the card's button; undefined when the card has no such button. */
  appleUrl: string | undefined;
  googleUrl: string | undefined;
}

/** Submits the form of the public page, follows the redirect to the web card and reads its buttons. */
export async function joinInPublic(
  service: Pick<TestService, 'publicUrl'>,
  { slug, ...person }: { slug: string; email: string; firstName?: string },
): Promise<Joined> {
  const page = `${service.publicUrl}/enroll/${slug}`;
  if (!(await (await fetch(page)).text()).includes('<form method="post"')) throw new Error('the page has no form');
  const sent = await fetch(page, { method: 'POST', body: new URLSearchParams(person), redirect: 'manual' });
  const cardUrl = new URL(sent.headers.get('location') ?? '', page).href;
  if (sent.status !== 303) throw new Error(`joining was answered ${sent.status}`);
  return readCard(cardUrl);
}

/** The web card's buttons. A customer who is slower than the issuing of the passes sees all of them. */
export async function readCard(cardUrl: string): Promise<Joined> {
  const links = [...(await (await fetch(cardUrl)).text()).matchAll(/<a [^>]*href="([^"]*)"/g)].map(
    ([, href = '']) => new URL(unescaped(href), cardUrl).href,
  );
  return {
    cardUrl,
    appleUrl: links.find((link) => link.endsWith('.pkpass')),
    googleUrl: links.find((link) => link.startsWith('https://pay.google.com/')),
  };
}

const unescaped = (text: string): string => text.replaceAll('&amp;', '&');
