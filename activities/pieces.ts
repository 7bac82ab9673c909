// A bulk is written piece by piece: some engines let nobody else write to a collection while one statement runs, and nobody's
// gesture is to wait for somebody else's bulk.

const pieceSize = 200;

export function pieces<T>(all: readonly T[], size = pieceSize): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
