// The stand-ins of Apple and Google in their own process, with the virtual phones of each card that the bench adds. On
// request it reports which balances the phones have shown since the last report.
import { openQuickly } from '../rig/checks/pkpass.js';
import { startApnsServer } from '../rig/standins/apnsServer.js';
import { makeAppleCertificates } from '../rig/standins/appleCertificates.js';
import { startGoogleServer } from '../rig/standins/googleServer.js';
import { createVirtualGoogleWallet } from '../rig/standins/virtualGoogleWallet.js';
import { createVirtualIphone } from '../rig/standins/virtualIphone.js';
import type { AddCards, Card, Shown } from './phones.js';

const addedTogether = 8;

const certificates = await makeAppleCertificates();
const [apns, google] = await Promise.all([startApnsServer(certificates), startGoogleServer()]);
const customer = createVirtualGoogleWallet(google);
const memberOfObject = new Map<string, string>();
let shown: Shown[] = [];

google.rules.onUpdate = (objectId) => {
  const memberId = memberOfObject.get(objectId);
  if (memberId === undefined) return;
  shown.push({ memberId, wallet: 'google', balance: Number(customer.card(objectId).balance), at: Date.now() });
};

async function add({ memberId, passUrl, objectId }: Card): Promise<void> {
  if (objectId !== undefined) {
    google.rules.setHasUsers(objectId, true);
    memberOfObject.set(objectId, memberId);
  }
  const phone = createVirtualIphone({
    apns,
    open: (archive) => openQuickly(archive, certificates.wwdrCert),
    onView: ({ balance, at }) => shown.push({ memberId, wallet: 'apple', balance, at: at.getTime() }),
  });
  await phone.install(passUrl);
}

async function addAll({ cards }: AddCards): Promise<void> {
  const left = [...cards];
  const loop = async () => {
    for (let card = left.shift(); card; card = left.shift()) await add(card);
  };
  await Promise.all(Array.from({ length: addedTogether }, loop));
}

process.on('message', (asked: AddCards | 'shown') => {
  if (asked === 'shown') {
    process.send?.(shown);
    shown = [];
    return;
  }
  // The bench learns of a failure by the end of this process.
  void addAll(asked).then(() => process.send?.('added'));
});
process.once('SIGTERM', () => process.exit(0));
process.once('disconnect', () => process.exit(0));
process.send?.({ ...certificates.settings, ...google.settings, APNS_ORIGIN: apns.origin, APNS_CA: apns.ca });
