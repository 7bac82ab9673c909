// Customers for the wallet tests. They join through the public page and add passes to virtual phones; a receiver
// records the webhooks of their merchant.
import { expect } from 'vitest';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import type { PassUpdate } from '../../../schemas/shared/passUpdate.schema.js';
import { until } from '../checks/until.js';
import { type Receiver, startReceiver } from '../standins/receiver.js';
import type { VirtualIphone } from '../standins/virtualIphone.js';
import type { Call } from './merchant.js';
import { type Joined, joinInPublic, type RealWallets, readCard } from './realWallets.js';

export interface Customer extends Joined {
  member: MemberRow;
  program: Program;
}

export interface ReceivedEvent {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: what an event carries is what the test says that it must
  data: any;
}

export interface Line {
  type: string;
  outcome: string;
  platform?: string;
  detail?: string;
}

export interface Changed {
  passUpdate: PassUpdate | null;
  current: number;
}

export interface Customers {
  /** Returns once the passes are issued, however long that takes. */
  join: (program?: Record<string, unknown> | Program) => Promise<Customer>;
  install: (customer: Customer) => Promise<VirtualIphone>;
  /** `waitMs` is the PASS_UPDATE_WAIT_MS of this change, for one that the wallets do not answer. */
  points: (customer: Customer, body: Record<string, unknown>, options?: { waitMs?: number }) => Promise<Changed>;
  status: (customer: Customer, status: string) => Promise<PassUpdate | null>;
  /**
   * Waits until the merchant has received `times` events of this type about the customer, and returns them, oldest
   * first.
   */
  received: (customer: Customer, event: string, times: number) => Promise<ReceivedEvent[]>;
  receivedSoFar: (customer: Customer, event: string) => ReceivedEvent[];
  /** The entries of this type in the customer's timeline, oldest first. */
  timeline: (customer: Customer, type: string) => Promise<Line[]>;
  stop: () => Promise<void>;
}

export async function startCustomers({ service, merchant, phone }: RealWallets): Promise<Customers> {
  const receiver: Receiver = await startReceiver();
  await merchant.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['*'] } });

  const change = async ({ member }: Customer, path: string, call: Call) => {
    const answer = await merchant.call(`/merchants/me/members/${member._id}/${path}`, { method: 'PATCH', ...call });
    expect(answer.status).toBe(200);
    return answer.body.data;
  };
  const receivedSoFar: Customers['receivedSoFar'] = ({ member }, event) =>
    receiver.requests
      .map((request): ReceivedEvent => JSON.parse(request.body.toString('utf8')))
      .filter((received) => received.event === event && received.data.memberId === member._id);

  return {
    async join(given = {}) {
      const program = 'enrollment' in given && '_id' in given ? (given as Program) : await merchant.program(given);
      const email = `${crypto.randomUUID()}@example.com`;
      const { cardUrl } = await joinInPublic(service, { slug: program.slug, email, firstName: 'Ada' });
      const withPasses = { email, 'pass.googleSaveUrl': { $exists: true } };
      const member = await until(() => service.deps.collections.members.findOne(withPasses));
      return { ...(await readCard(cardUrl)), member, program };
    },
    async install(customer) {
      const device = phone();
      await device.install(customer.appleUrl ?? '');
      return device;
    },
    async points(customer, body, { waitMs } = {}) {
      const { config } = service.deps;
      const usual = config.PASS_UPDATE_WAIT_MS;
      config.PASS_UPDATE_WAIT_MS = waitMs ?? usual;
      const data = await change(customer, 'points', { body });
      config.PASS_UPDATE_WAIT_MS = usual;
      return { passUpdate: data.passUpdate, current: data.current };
    },
    async status(customer, status) {
      return (await change(customer, 'status', { body: { status } })).passUpdate;
    },
    receivedSoFar,
    async received(customer, event, times) {
      await until(() => receivedSoFar(customer, event).length >= times, { seen: () => receivedSoFar(customer, event) });
      return receivedSoFar(customer, event);
    },
    async timeline({ member }, type) {
      const { body } = await merchant.call(`/merchants/me/members/${member._id}/events?limit=200`);
      return body.data.items.filter((line: Line) => line.type === type).reverse();
    },
    stop: () => receiver.stop(),
  };
}
