// What a program brings, a sentence for each reward.
import type { Program } from '../../schemas/programs/programs.schema.js';
import { unitIn } from '../../schemas/programs/unit.rules.js';
import type { Words } from './words.view.js';

export function offersOf({ goal, rewardName, rewards, tiers, fields }: Program, words: Words): string[] {
  const { join, say, language } = words;
  if (tiers) return [join.rise(new Intl.ListFormat(language).format(tiers.map(({ name }) => say(name))))];
  const unit = unitIn(language, say(fields.primaryLabel));
  const named = rewardName === undefined ? undefined : say(rewardName);
  const own = (rewards ?? []).filter(({ active }) => active).slice(0, 3);
  const prizes = own.map(({ name, cost }) => join.collect(cost, unit, say(name)));
  if (goal !== undefined) prizes.push(join.collect(goal, unit, named));
  return prizes;
}
