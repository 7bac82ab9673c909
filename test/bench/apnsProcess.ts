// The APNs stand-in in its own process, with the certificates that a service needs to push to it.
import { startApnsServer } from '../rig/standins/apnsServer.js';
import { makeAppleCertificates } from '../rig/standins/appleCertificates.js';

const certificates = await makeAppleCertificates();
const apns = await startApnsServer(certificates);
process.on('message', () => process.send?.(apns.pushes.length));
process.once('SIGTERM', () => process.exit(0));
process.once('disconnect', () => process.exit(0));
process.send?.({ ...certificates.settings, APNS_ORIGIN: apns.origin, APNS_CA: apns.ca });
