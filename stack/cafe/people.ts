// The customers of the demo's café, drawn from a fixed sequence of numbers, so that every start makes the same ones.

const firstNames =
  'Ada Ben Clara David Elif Felix Greta Hugo Ines Jonas Klara Leo Mia Nils Olga Paul Rosa Samir Tilda Umut Vera Wanda Yusuf Zoe Anton Bruno Carla Emil Frida Hanna Ivan Julia Karim Lina Marta Noah Otto Petra Rafael Sofia'.split(
    ' ',
  );
const lastNames =
  'Adler Becker Costa Dubois Engel Fischer Garcia Hoffmann Ivanov Jansen Keller Lang Moreau Novak Olsen Peters Rossi Schmidt Torres Ulrich Vogel Weber Yilmaz Zimmer Bauer Conti Duran Ferrari'.split(
    ' ',
  );

export type Style = 'stamps' | 'points' | 'tiered';

export interface Guest {
  firstName: string;
  lastName: string;
  email: string;
  style: Style;
  /** On the paper card that the café had before. */
  initialPoints?: number;
  /** Days between two visits. */
  every: number;
  /** The day of the history, counted from its end, after which the guest has not come. */
  lastDay: number;
}

/** Numbers of at least 0 and below 1, the same for each seed (mulberry32). */
export function createDraw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Share of the guests, and their days between two visits. */
const habits = [
  { share: 0.08, every: 3 },
  { share: 0.4, every: 9 },
  { share: 1, every: 24 },
] as const;
const shareOfLost = 0.2;

export function drawGuests(draw: () => number, count: number, styles: readonly Style[]): Guest[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T;
  return Array.from({ length: count }, (_, index) => {
    const [firstName, lastName] = [pick(firstNames), pick(lastNames)];
    const habit = draw();
    const style = styles[index % styles.length] ?? 'stamps';
    return {
      ...{ firstName, lastName, style },
      email: `${firstName}.${lastName}.${index + 1}@cafe.example`.toLowerCase(),
      every: habits.find(({ share }) => habit < share)?.every ?? 24,
      lastDay: draw() < shareOfLost ? 5 + Math.floor(draw() * 45) : 0,
    };
  });
}
