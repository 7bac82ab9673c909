// Readers, as the console manages them (docs/interface.md#411-till).
import type { z } from 'zod';
import {
  type CodeOf,
  createReader,
  newCodeFor,
  revokeReader,
  updateReader,
} from '../../activities/till/readers.writes.js';
import { readerNow } from '../../activities/till/taps.writes.js';
import type { Deps } from '../../platform/deps.js';
import { shown } from '../../schemas/shared/answers.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import type { readerEndpoints } from '../../schemas/till/readers.routes.js';
import { type LookupBy, type pairingAnswer, reader } from '../../schemas/till/readers.schema.js';
import { overdueOf, receivedOf } from '../../schemas/till/taps.rules.js';
import type { ReaderRow } from '../../schemas/till/till.rows.js';
import { type Caller, requireHeld } from '../http/caller.reads.js';
import { newestPage } from '../http/newestPage.reads.js';
import { readPage } from '../http/page.reads.js';
import type { Routes } from '../http/request.js';

async function presentReader(deps: Deps, row: ReaderRow): Promise<z.input<typeof reader>> {
  const present = await readerNow(deps, row);
  const all = [...present.former, present.taps];
  return shown(reader, present, {
    programIds: present.programIds?.map(programIdOf),
    lookupBy: present.lookupBy ?? [],
    waiting: present.waiting ?? 0,
    received: all.reduce((sum, taps) => sum + receivedOf(taps), 0),
    missing: all.flatMap(({ gaps }) => gaps),
    overdue: all.reduce((sum, taps) => sum + overdueOf(taps, deps.now()), 0),
  });
}

const presentCode = (deps: Deps, { code, expiresAt }: CodeOf): z.input<typeof pairingAnswer> => ({
  pairingCode: code,
  // The part after # never reaches a server or its logs.
  pairingLink: `${deps.config.PUBLIC_URL}/till#${code}`,
  pairingExpiresAt: expiresAt.toISOString(),
});

/** Finding people without their cards is for those who may see them. Throws PERMISSION_DENIED. */
function requireLookup(caller: Caller, { lookupBy = [] }: { lookupBy?: LookupBy[] | undefined }): void {
  if (lookupBy.length > 0) requireHeld(caller, ['merchants.members:view']);
}

export const readerRoutes: Routes<keyof typeof readerEndpoints> = {
  async createReader({ deps, caller, body }) {
    const { merchantId, actor } = caller;
    requireLookup(caller, body);
    const { row, made } = await createReader(deps, { merchantId, createdBy: actor.id, ...body });
    return { data: { ...(await presentReader(deps, row)), ...presentCode(deps, made) } };
  },

  async listReaders({ deps, caller: { merchantId }, query: { page, pageSize } }) {
    const { readers } = deps.collections;
    const { items, total } = await readPage(deps, {
      page,
      pageSize,
      read: (skip) => newestPage(deps, readers, { where: { merchantId }, skip, pageSize }),
      count: () => readers.countDocuments({ merchantId }),
    });
    return { data: { items: await Promise.all(items.map((row) => presentReader(deps, row))), page, pageSize, total } };
  },

  async updateReader({ deps, caller, params, body }) {
    const { merchantId } = caller;
    requireLookup(caller, body);
    return {
      data: await presentReader(deps, await updateReader(deps, { merchantId, id: params.id ?? '', patch: body })),
    };
  },

  async pairReader({ deps, caller: { merchantId }, params }) {
    return { data: presentCode(deps, await newCodeFor(deps, { merchantId, id: params.id ?? '' })) };
  },

  async revokeReader({ deps, caller: { merchantId }, params }) {
    const id = params.id ?? '';
    await revokeReader(deps, { merchantId, id });
    return { data: { id, revoked: true } };
  },
};
