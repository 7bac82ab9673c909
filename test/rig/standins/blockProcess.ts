/** Blocks this process for `ms`, including its timers. */
export const blockProcess = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
