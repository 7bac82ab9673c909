// A program that an operator names: by its id, or by what `programs -- list` shows where merchants chose the same id.
import type { Deps } from '../../platform/deps.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { programIdOf } from '../../schemas/shared/ids.js';

type Named = Pick<Program, '_id' | 'merchantId' | 'archived' | 'expiry'>;

/** Returns the mistake where no program is meant, or several. */
export async function programNamed({ collections }: Deps, id: string): Promise<Named | string> {
  const shown = { projection: { merchantId: 1, archived: 1, expiry: 1 } };
  const exact = await collections.programs.findOne({ _id: id }, shown);
  if (exact) return exact;
  const all = await collections.programs.find({}, shown).sort({ _id: 1 }).toArray();
  const [first, ...others] = all.filter(({ _id }) => programIdOf(_id) === id);
  if (!first) return `there is no program "${id}"`;
  if (others.length === 0) return first;
  return `"${id}" is one of ${[first, ...others].map(({ _id }) => _id).join(', ')}`;
}
