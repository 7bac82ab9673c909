// Calls that tests of the ledger make for a member.
import type { Answer, Call, TestMerchant } from './merchant.js';

/** `merchant` is a function, because tests create their merchant in `beforeAll`. */
export function memberCalls(merchant: () => TestMerchant) {
  const one = (memberId: string) => `/merchants/me/members/${memberId}`;
  const call = (path: string, options?: Call): Promise<Answer> => merchant().call(path, options);
  return {
    one,
    read: async (memberId: string) => (await call(one(memberId))).body.data,
    ledgerOf: async (memberId: string) => (await call(`${one(memberId)}/transactions`)).body.data.items,
    points: (memberId: string, body: unknown) => call(`${one(memberId)}/points`, { method: 'PATCH', body }),
    earn: (memberId: string, body: unknown, options: Call = {}) =>
      call(`${one(memberId)}/earn`, { method: 'POST', body, ...options }),
    redeem: (memberId: string, body?: unknown) => call(`${one(memberId)}/redeem`, { method: 'POST', body }),
    reverse: (memberId: string, transactionId: string, options: Call = {}) =>
      call(`${one(memberId)}/transactions/${transactionId}/reverse`, { method: 'POST', ...options }),
  };
}

export const refusal = ({ status, body }: Answer) => [status, body.error.code];
