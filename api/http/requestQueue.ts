// What is written in the background about requests. A request only adds to a list in memory, which is written every
// 250 ms. When rows come faster than they are written, or cannot be written, they are dropped and counted: the log never
// delays or fails a request.

export interface RequestQueue<Row> {
  note: (row: Row) => void;
  /** Writes what waits. */
  flush: () => Promise<void>;
}

interface QueueOptions<Row> {
  write: (rows: Row[]) => Promise<void>;
  dropped: (rows: number, error?: unknown) => void;
  /** The most rows that wait or are being written. */
  most?: number;
  everyMs?: number;
}

export function createRequestQueue<Row>({
  write,
  dropped,
  most = 5_000,
  everyMs = 250,
}: QueueOptions<Row>): RequestQueue<Row> {
  let waiting: Row[] = [];
  let inWriting = 0;
  let writing: Promise<void> | undefined;
  let isDue = false;

  async function writeWaiting(): Promise<void> {
    const rows = waiting;
    waiting = [];
    inWriting = rows.length;
    await write(rows).catch((error: unknown) => dropped(rows.length, error));
    inWriting = 0;
    writing = undefined;
    if (waiting.length > 0) wait();
  }

  function wait(): void {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      writing ??= writeWaiting();
    }, everyMs).unref();
  }

  return {
    note(row) {
      if (waiting.length + inWriting >= most) return dropped(1);
      waiting.push(row);
      wait();
    },
    async flush() {
      await writing;
      if (waiting.length > 0) writing ??= writeWaiting();
      await writing;
    },
  };
}
