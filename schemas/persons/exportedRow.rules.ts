// A stored row in an export: without secrets, with times as ISO strings and with JSON bytes as JSON.
import type { CollectionName } from '../tables/collections.js';
import { personalData } from './personalData.schema.js';

export function exportedRow(name: CollectionName, row: object): Record<string, unknown> {
  const { secret = [] } = personalData[name];
  const shown = plainOf(row) as Record<string, unknown>;
  for (const path of secret) removeAt(shown, path.split('.'));
  return shown;
}

function removeAt(within: Record<string, unknown>, [first = '', ...rest]: string[]): void {
  const inner = within[first];
  if (rest.length === 0) delete within[first];
  else if (typeof inner === 'object' && inner !== null) removeAt(inner as Record<string, unknown>, rest);
}

function plainOf(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== 'object' || value === null) return value;
  if ('buffer' in value && value.buffer instanceof Uint8Array) return ofBytes(value.buffer);
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, plainOf(inner)]));
}

function ofBytes(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return Buffer.from(bytes).toString('base64');
  }
}
