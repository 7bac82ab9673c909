import type { Context } from 'koa';

const drainLimits = { bytes: 64 * 1_048_576, ms: 5_000 };

/**
 * Reads and discards the rest of a body, up to `drainLimits`: a client that is still sending does not read the answer.
 */
export async function readToEnd({ req }: Context): Promise<void> {
  if (req.complete || req.destroyed) return;
  await new Promise<void>((resolve) => {
    let left = drainLimits.bytes;
    const timer = setTimeout(end, drainLimits.ms);
    function end(): void {
      clearTimeout(timer);
      resolve();
    }
    req.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) end();
    });
    req.once('end', end);
    req.once('close', end);
    req.resume();
  });
}
