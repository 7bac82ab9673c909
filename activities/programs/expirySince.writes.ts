// Since when the points of a program expire. A rule can be written in several ways, so the first read of a program
// with a rule stores the time, and anew when the rule has become one of another kind. `giveLots` removes the row
// of a program that has no rule any more (docs/decisions/points-expire-by-lots.md).
import type { Deps } from '../../platform/deps.js';
import { isDuplicateKey } from '../../platform/mongodb/conflicts.js';
import type { ExpiryRow } from '../../schemas/points/points.rows.js';
import { expiryKind } from '../../schemas/programs/expiry.schema.js';
import type { Program } from '../../schemas/programs/programs.schema.js';

type Ruled = Pick<Program, '_id' | 'merchantId' | 'expiry'>;

async function readExpiry(
  deps: Deps,
  { _id, merchantId, kind }: Ruled & { kind: ExpiryRow['kind'] },
): Promise<ExpiryRow> {
  const { expiries } = deps.collections;
  for (;;) {
    const row = await expiries.findOne({ _id, merchantId });
    if (row?.kind === kind) return row;
    const fresh = { kind, since: deps.now(), next: 0 };
    if (row) await expiries.updateOne({ _id, merchantId, kind: row.kind }, { $set: fresh });
    else
      await expiries.insertOne({ _id, merchantId, ...fresh }).catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
      });
  }
}

/** The program (at most one second old), with `expirySince` when its points expire. */
export async function withExpiry<P extends Ruled>(deps: Deps, program: P): Promise<P & { expirySince?: Date }> {
  if (!program.expiry) return program;
  const kind = expiryKind(program.expiry);
  const row = await deps.cached(`expiry:${program._id}:${kind}`, () => readExpiry(deps, { ...program, kind }));
  return row ? { ...program, expirySince: row.since } : program;
}
