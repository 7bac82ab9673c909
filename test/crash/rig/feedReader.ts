// A reader of a merchant's feed that follows the documentation: it starts at the beginning, continues from the last
// cursor, and repeats a request that was not answered with a page.
import { type Caller, isAnswer } from './caller.js';

export interface FeedReader {
  /** The ids of the events so far, in the order of the feed. */
  eventIds: string[];
  /** Reads one page. Resolves with whether there is more. */
  readOn(): Promise<boolean>;
  /** Reads to the end of the feed. Throws when there is no end within 10,000 pages. */
  readToEnd(): Promise<void>;
}

const pagesToEnd = 10_000;

export function createFeedReader(caller: Caller): FeedReader {
  let cursor: string | undefined;
  const reader: FeedReader = {
    eventIds: [],
    async readOn() {
      const path = `/merchants/me/events?limit=100${cursor === undefined ? '' : `&after=${cursor}`}`;
      const { answer } = await caller.call({ method: 'GET', path });
      if (!isAnswer(answer) || answer.status !== 200) return true;
      const { data } = JSON.parse(answer.text) as {
        data: { items: { eventId: string }[]; cursor: string; more: boolean };
      };
      reader.eventIds.push(...data.items.map(({ eventId }) => eventId));
      cursor = data.cursor;
      return data.more;
    },
    async readToEnd() {
      for (let pages = 0; pages < pagesToEnd; pages += 1) if (!(await reader.readOn())) return;
      throw new Error('The feed has no end.');
    },
  };
  return reader;
}
