// Splits bulk writes into chunks: some engines block all other writes to a collection while one statement runs, and a
// change of a single member must not wait for a bulk write.

export const defaultChunkSize = 200;

export function toChunks<T>(all: readonly T[], size = defaultChunkSize): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
