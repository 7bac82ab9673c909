// Reads a member's recent earnings from its ledger, for the limits of earning.
import type { Deps } from '../../platform/deps.js';
import type { Earned } from '../../schemas/points/earning.rules.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import type { EarnedReader } from './earn.rules.js';

type Row = Pick<LedgerRow, 'delta' | 'earning'>;

const presented = ({ delta, earning }: Row): Earned[] => (earning ? [{ delta, soldAt: earning.soldAt }] : []);

export function earnedReader({ collections: { ledger } }: Pick<Deps, 'collections'>): EarnedReader {
  const sold = (memberId: string, soldAt: { $gt?: Date; $gte?: Date; $lt: Date }) => ({
    'earning.memberId': memberId,
    'earning.soldAt': soldAt,
    reversedBy: { $exists: false },
  });
  const shown = { delta: 1, earning: 1 } as const;
  return {
    async between(memberId, { from, to }) {
      const filter = { ...sold(memberId, { $gte: from, $lt: to }), delta: { $gt: 0 } };
      const rows = await ledger.find(filter).project<Row>(shown).toArray();
      return rows.flatMap(presented);
    },
    async latest(memberId, { after, before }) {
      const filter = sold(memberId, { $gt: after, $lt: before });
      const rows = await ledger.find(filter).project<Row>(shown).sort({ 'earning.soldAt': -1 }).limit(1).toArray();
      return rows.flatMap(presented)[0];
    },
  };
}
