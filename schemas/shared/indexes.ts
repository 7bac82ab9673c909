// How collections declare their indexes. Each index states its reason; no query scans a collection. The migration
// creates what is declared and drops what is not.
import type { IndexDirection } from 'mongodb';

export interface IndexSpec {
  key: Record<string, IndexDirection>;
  unique?: true;
  /** A sparse index: only the rows that have the field. */
  sparse?: true;
  /** Only the rows with such a field, also where other fields of the key are in every row. */
  partialFilterExpression?: Record<string, { $exists: true } | { $gt: number } | true>;
  expireAfterSeconds?: number;
  /** Why the index exists: the query or the rule that it serves. */
  reason: string;
}

export type IndexesOf<Rows> = Record<keyof Rows, readonly IndexSpec[]>;

export const days = (count: number): number => count * 86_400;
