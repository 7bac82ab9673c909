// How far an import is, as the bars that its row shows while it runs.
import type { components } from '../../sdk/index.js';
import { texts } from '../texts.js';

type Batch = components['schemas']['Batch'];

export interface Bar {
  label: string;
  percent: number;
}

const share = (part: number, whole: number): number => (whole === 0 ? 0 : Math.min(100, (100 * part) / whole));

/** Members are the first half of the batch's percent, their passes and events the second one. */
export function importBars({
  counts,
  passIssuance,
  percent,
  quiet = false,
}: Pick<Batch, 'counts' | 'passIssuance' | 'percent' | 'quiet'>): Bar[] {
  const { total, created, deduped, failed } = counts;
  const { members, passes, events } = texts.imports.bars;
  const bars = [
    { label: members, percent: share(created + deduped + failed, total) },
    { label: passes, percent: share(Math.max(passIssuance.apple, passIssuance.google), created) },
  ];
  return quiet ? bars : [...bars, { label: events, percent: share(Math.max(0, percent - 50), 50) }];
}
