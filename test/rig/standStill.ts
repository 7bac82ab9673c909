/** Nothing of this process runs for `ms`, no timer either. */
export const standStill = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
