// What a security reader sees of the service through its proxy: headers, what is not reachable, and that a client
// cannot pass for another address.
import { Agent, fetch, type Response } from 'undici';

export interface PublicSite {
  /** Of the proxy. */
  address: string;
  /** PEM of the authority of its certificate. */
  ca: string;
}

const pages = ['/', '/console', '/till', '/docs', '/enroll/nothing'];
const others = [
  '/api/v1/openapi.json',
  '/api/v1/merchants/me/members',
  '/healthz',
  '/readyz',
  '/nothing',
  '/console/assets/nothing.js',
];
/** On the ports of the metrics only. */
const inside = ['/metrics', '/codec', '/codec/decode'];
const yearSeconds = 31_536_000;

function faultsOf(path: string, { status, headers }: Response): string[] {
  const given = (name: string): string => headers.get(name) ?? '';
  const wanted: [boolean, string][] = [
    [status < 500, `is ${status}`],
    [
      Number(/max-age=(\d+)/.exec(given('strict-transport-security'))?.[1]) >= yearSeconds,
      'has no Strict-Transport-Security of a year',
    ],
    [given('x-powered-by') === '', 'has X-Powered-By'],
    [!/\d/.test(given('server')), `names the version of its server: ${given('server')}`],
    [given('x-request-id') !== '', 'has no X-Request-Id'],
    [given('access-control-allow-origin') !== '*' || path.endsWith('.json'), 'is readable for pages of all origins'],
  ];
  const isRedirect = status >= 300 && status < 400;
  if (given('content-type').startsWith('text/html') && !isRedirect) {
    const policy = given('content-security-policy');
    const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? '';
    wanted.push(
      [/default-src '(none|self)'/.test(policy), 'allows all sources'],
      [!/'unsafe|\*|https?:/.test(scripts), `allows scripts from ${scripts}`],
      [policy.includes("frame-ancestors 'none'"), 'can be put into a frame'],
      [given('x-content-type-options') === 'nosniff', 'has no nosniff'],
      [given('referrer-policy') !== '', 'has no Referrer-Policy'],
    );
  }
  return wanted.flatMap(([holds, fault]) => (holds ? [] : [`${path} ${fault}`]));
}

/** Empty when all is well. */
export async function faultsOfSite({ address, ca }: PublicSite): Promise<string[]> {
  const dispatcher = new Agent({ connect: { ca } });
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${address}${path}`, { headers, redirect: 'manual', dispatcher });
  const faults: string[] = [];
  try {
    for (const path of [...pages, ...others, ...inside]) {
      const answer = await get(path);
      faults.push(...faultsOf(path, answer));
      if (inside.includes(path) && answer.status !== 404) faults.push(`${path} is reachable: ${answer.status}`);
      await answer.arrayBuffer();
    }
    const ready = await (await get('/readyz', { 'X-Forwarded-For': '127.0.0.1' })).text();
    if (!/^\{"status":"\w+"\}$/.test(ready)) faults.push(`/readyz tells strangers ${ready}`);

    // Six failed sign-ins of one client count as six, although each names another address.
    const left: number[] = [];
    for (let at = 1; at <= 6; at += 1) {
      const claimed = { 'X-Forwarded-For': `203.0.113.${at}`, 'X-API-Key': 'wrong' };
      const answer = await get('/api/v1/merchants/me/members', claimed);
      left.push(Number(answer.headers.get('ratelimit-remaining')));
      await answer.arrayBuffer();
    }
    // Two APIs without Redis count by themselves.
    if (!(Math.max(...left) - Math.min(...left) >= 2)) faults.push(`a client can claim other addresses: ${left}`);
  } finally {
    await dispatcher.close();
  }
  return faults;
}
