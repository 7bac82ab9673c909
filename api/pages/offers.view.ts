// What a program brings, a sentence for each reward.
import type { Program } from '../../schemas/programs/programs.schema.js';
import type { Words } from './words.view.js';

export function offersOf({ goal, rewardName, rewards, tiers, fields }: Program, words: Words): string[] {
  const { join, say, language } = words;
  if (tiers) return [join.rise(new Intl.ListFormat(language).format(tiers.map(({ name }) => say(name))))];
  const unit = say(fields.primaryLabel);
  // Only German capitalises nouns.
  const label = language === 'de' ? unit : unit.toLowerCase();
  const named = rewardName === undefined ? undefined : say(rewardName);
  const own = (rewards ?? []).filter(({ active }) => active).slice(0, 3);
  const prizes = own.map(({ name, cost }) => join.collect(cost, label, say(name)));
  if (goal !== undefined) prizes.push(join.collect(goal, label, named));
  return prizes;
}
