// Resolves host names without Node's thread pool. `dns.lookup` holds one of the pool's four threads until the name
// server answers, so a few subscriptions with dead name servers could stop every other delivery and all file access.
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { WebhookError } from './webhookError.rules.js';

export interface ResolveOptions {
  timeoutMs?: number;
  /** Name servers as `address:port`; default: those of the machine. */
  servers?: readonly string[];
}

const hostsFile = '/etc/hosts';

/**
 * Returns the addresses of `host` from the hosts file, or else its A and AAAA records. Throws WebhookError `dns` when
 * there are none within `timeoutMs`.
 */
export async function resolveHost(
  host: string,
  { timeoutMs = 2_000, servers }: ResolveOptions = {},
): Promise<string[]> {
  const written = await fromHostsFile(host);
  if (written.length > 0) return written;

  // One resolver for each call, because cancel() ends all queries of its resolver.
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers) resolver.setServers(servers);
  const timer = setTimeout(() => resolver.cancel(), timeoutMs);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw new WebhookError('dns', answers.map(reasonOf).join('; '));
  } finally {
    clearTimeout(timer);
  }
}

function reasonOf(answer: PromiseSettledResult<string[]>): string {
  return answer.status === 'rejected' ? String(answer.reason) : 'no address';
}

async function fromHostsFile(host: string): Promise<string[]> {
  const text = await readFile(hostsFile, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return address && names.some((name) => name.toLowerCase() === host) ? [address] : [];
  });
}
