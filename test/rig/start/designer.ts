// A console session that edits the programs of a merchant.
import type { Answer, Call, TestMerchant } from './merchant.js';

export interface Designer {
  call: (path?: string, call?: Call) => Promise<Answer>;
  /** The draft of a new program. */
  create: (fields?: Record<string, unknown>) => Promise<Answer>;
  edit: (id: string, patch: Record<string, unknown>) => Promise<Answer>;
  publish: (id: string, body?: Record<string, unknown>) => Promise<Answer>;
}

let made = 0;

export async function aDesigner(merchant: TestMerchant, roleIds = ['manager']): Promise<Designer> {
  const credential = { Authorization: `Bearer ${await merchant.token({ roleIds })}` };
  const call: Designer['call'] = (path = '', options = {}) =>
    merchant.call(`/merchants/me/programs${path}`, { credential, ...options });
  return {
    call,
    create(fields = {}) {
      made += 1;
      const slug = `${merchant.id.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}-${made}`;
      const body = { slug, name: 'Draft', style: 'points', fields: { primaryLabel: 'POINTS' }, goal: 100, ...fields };
      return call('', { body });
    },
    edit: (id, body) => call(`/${id}`, { method: 'PATCH', body }),
    publish: (id, body) => call(`/${id}/publish`, { method: 'POST', ...(body && { body }) }),
  };
}
