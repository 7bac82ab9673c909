// Readers, as the console manages them (docs/interface.md#411-till).
import type { z } from 'zod';
import {
  type CodeOf,
  createReader,
  newCodeFor,
  revokeReader,
  updateReader,
} from '../../activities/till/readers.writes.js';
import { countTaps } from '../../activities/till/taps.writes.js';
import type { Deps } from '../../platform/deps.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import type { readerEndpoints } from '../../schemas/till/readers.routes.js';
import type { pairingAnswer, reader } from '../../schemas/till/readers.schema.js';
import { overdueOf, receivedOf } from '../../schemas/till/taps.rules.js';
import type { ReaderRow } from '../../schemas/till/till.rows.js';
import type { Routes } from '../http/request.js';

const timeOf = (date: Date | undefined): string | null => date?.toISOString() ?? null;

async function presentReader(deps: Deps, row: ReaderRow): Promise<z.input<typeof reader>> {
  const { _id: id, name, location, programIds, lookupBy, createdBy, createdAt, pairedAt, revokedAt, lastSeenAt } = row;
  const { taps } = await countTaps(deps, row);
  const gaps = [...row.former.gaps, ...taps.gaps];
  return {
    id,
    name,
    location: location ?? null,
    programIds: programIds?.map(programIdOf) ?? null,
    lookupBy: lookupBy ?? [],
    createdBy,
    createdAt: createdAt.toISOString(),
    pairedAt: timeOf(pairedAt),
    revokedAt: timeOf(revokedAt),
    lastSeenAt: timeOf(lastSeenAt),
    waiting: row.waiting ?? 0,
    received: row.former.received + receivedOf(taps),
    missing: gaps.map(({ from, to }) => ({ from, to })),
    overdue: overdueOf({ gaps }, deps.now()),
  };
}

const presentCode = (deps: Deps, { code, expiresAt }: CodeOf): z.input<typeof pairingAnswer> => ({
  pairingCode: code,
  // The part after # never reaches a server or its logs.
  pairingLink: `${deps.config.PUBLIC_URL}/till#${code}`,
  pairingExpiresAt: expiresAt.toISOString(),
});

export const readerRoutes: Routes<keyof typeof readerEndpoints> = {
  async createReader({ deps, caller, body }) {
    const { merchantId, actor } = caller;
    const { row, made } = await createReader(deps, { merchantId, createdBy: actor.id, ...body });
    return { data: { ...(await presentReader(deps, row)), ...presentCode(deps, made) } };
  },

  async listReaders({ deps, caller: { merchantId }, query: { page, pageSize } }) {
    const { readers } = deps.collections;
    const [rows, total] = await Promise.all([
      readers
        .find({ merchantId })
        .sort({ createdAt: -1 })
        .skip((page - 1) * pageSize)
        .limit(pageSize)
        .toArray(),
      readers.countDocuments({ merchantId }),
    ]);
    return { data: { items: await Promise.all(rows.map((row) => presentReader(deps, row))), page, pageSize, total } };
  },

  async updateReader({ deps, caller: { merchantId }, params, body }) {
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
