// An HTTP agent that opens no socket to a forbidden address. The check runs where the socket connects. So it also
// covers IP literals (for which undici calls no lookup), names that resolve to another address the second time, and
// every way by which a URL can have been stored. The socket connects to the addresses that were checked; the name is
// not resolved again.
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { forbiddenReason, isInside } from '../../schemas/shared/addresses.rules.js';
import {
  bareHost,
  checkWebhookUrl,
  isLocalhost,
  transportRefusal,
  type WebhookUrlRules,
} from '../../schemas/webhooks/url.rules.js';
import { resolveHost } from './resolveHost.client.js';
import { hearStatusLines } from './statusLine.rules.js';
import { toWebhookError, WebhookError } from './webhookError.rules.js';

export interface WebhookAgentOptions extends WebhookUrlRules {
  /** Returns all addresses of a name, or throws WebhookError `dns`. Default: the machine's name servers, within 2 s. */
  resolve?: (host: string) => Promise<string[]>;
  /** Certificate authorities (PEM) to trust in place of the system's. */
  ca?: string;
  /**
   * The maximum number of sockets to one origin. Must not be lower than `total` of the delivery limits: subscriptions
   * of several merchants may share an origin, and a receiver that hangs must not make the others wait for a socket.
   */
  connectionsPerOrigin?: number;
}

const connectTimeoutMs = 5_000;
const addressTimeoutMs = 1_000;
const maxHeaderBytes = 16_384;

/**
 * Ignores the proxy settings of the environment. A request fails with WebhookError when no connection could be made.
 */
export function createWebhookAgent({ connectionsPerOrigin = 256, ...options }: WebhookAgentOptions): Agent {
  return new Agent({
    connect: guardedConnector({ resolve: resolveHost, ...options }),
    connections: connectionsPerOrigin,
    maxHeaderSize: maxHeaderBytes,
    // The timer of sendWebhook covers the whole attempt, so undici's timers for its parts are switched off.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Shorter than the idle timeout of common receivers (gunicorn: 2 s), so that no POST is sent on a socket that the
    // receiver is closing.
    keepAliveTimeout: 1_500,
    keepAliveMaxTimeout: 30_000,
  });
}

type Guard = WebhookUrlRules & Required<Pick<WebhookAgentOptions, 'resolve'>> & Pick<WebhookAgentOptions, 'ca'>;

function guardedConnector(guard: Guard): buildConnector.connector {
  return (target, callback) => {
    vettedAddresses(guard, target).then(
      (addresses) => connectTo(addresses, guard, target, callback),
      (error: unknown) => callback(toWebhookError(error), null),
    );
  };
}

async function vettedAddresses({ resolve, ...rules }: Guard, target: buildConnector.Options): Promise<string[]> {
  const checked = checkWebhookUrl(`${target.protocol}//${target.host ?? target.hostname}`, rules);
  if (!checked.ok) throw blocked(`${target.hostname}: ${checked.reason}`);

  const host = bareHost(checked.url);
  const addresses = await addressesOf(host, rules, resolve);
  for (const address of addresses) {
    const reason = forbiddenReason(address, rules.allow);
    if (reason !== null) throw blocked(`${host} is ${address}: ${reason}`);
  }
  const inside = addresses.every((address) => isInside(rules.allow, address));
  const refusal = transportRefusal(checked.url, rules.allowHttp, inside);
  if (refusal !== null) throw blocked(`${host} is ${addresses.join(', ')}: ${refusal}`);
  return addresses;
}

async function addressesOf(host: string, { allow }: WebhookUrlRules, resolve: Guard['resolve']): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (isLocalhost(host)) return ['127.0.0.1', '::1'].filter((address) => isInside(allow, address));
  const addresses = await resolve(host);
  if (addresses.length === 0) throw new WebhookError('dns', `${host} has no address`);
  return addresses;
}

function connectTo(
  addresses: readonly string[],
  { ca, allow }: Guard,
  target: buildConnector.Options,
  callback: buildConnector.Callback,
): void {
  const connect = buildConnector({
    lookup: pinnedTo(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressTimeoutMs,
    timeout: connectTimeoutMs,
    allowH2: false,
    maxCachedSessions: 0,
    minVersion: 'TLSv1.2',
    // Set explicitly, because otherwise the environment variable NODE_TLS_REJECT_UNAUTHORIZED decides.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
  connect(target, (error, socket) => {
    if (error !== null) return callback(toWebhookError(error), null);
    const remote = socket.remoteAddress ?? '';
    const reason = forbiddenReason(remote, allow);
    if (reason === null) {
      hearStatusLines(socket);
      return callback(null, socket);
    }
    socket.destroy();
    callback(blocked(`${target.hostname} connected to ${remote}: ${reason}`), null);
  });
}

function pinnedTo(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, done) => {
    const [first = { address: '', family: 0 }] = answers;
    if (options.all) return done(null, answers);
    done(null, first.address, first.family);
  };
}

function blocked(message: string): WebhookError {
  return new WebhookError('blocked_address', message);
}
