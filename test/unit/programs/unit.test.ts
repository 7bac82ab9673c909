import { expect, it } from 'vitest';
import { unitIn } from '../../../schemas/programs/unit.rules.js';

it.each([
  ['de', 'STEMPEL', 'Stempel'],
  ['de', 'BONUS-PUNKTE', 'Bonus-Punkte'],
  ['de', 'süße Herzen', 'süße Herzen'],
  ['en', 'STAMPS', 'stamps'],
  ['en', 'Coffee Beans', 'coffee beans'],
  ['en', 'XP', 'XP'],
  ['en', 'XP POINTS', 'XP points'],
  ['en', 'XP!', 'XP!'],
  ['de', 'XP-PUNKTE', 'XP-Punkte'],
  ['de', 'PUNKTE IM SPIEL', 'Punkte im Spiel'],
  ['fr', 'L’ÉTOILE', 'l’étoile'],
  ['fr', 'ÉTOILES D’OR', 'étoiles d’or'],
  ['fr', 'POINTS DE FIDÉLITÉ', 'points de fidélité'],
  ['en', 'eCoins', 'eCoins'],
  ['fr', 'ÉTOILES', 'étoiles'],
  ['es', 'SELLOS', 'sellos'],
  ['it', 'PUNTI', 'punti'],
  ['de', '⭐', '⭐'],
  ['de', 'スタンプ', 'スタンプ'],
])('a sentence in %s writes what people collect, %s, as %s', (language, label, written) => {
  expect(unitIn(language, label)).toBe(written);
});
