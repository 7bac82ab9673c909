// The pull feed: pages of envelopes, and a cursor that is valid only for one merchant's feed.
import { z } from 'zod';
import { sha256 } from '../shared/ids.js';
import { envelope, eventType } from './events.schema.js';

const mark = (merchantId: string): string => sha256(merchantId).slice(0, 12);

/** The cursor after the event with this number. */
export function feedCursor(merchantId: string, sequence: number): string {
  return Buffer.from(`${sequence}.${mark(merchantId)}`).toString('base64url');
}

/** The number of the event before the cursor; null when it is not a cursor of this merchant's feed. */
export function parseFeedCursor(merchantId: string, cursor: string): number | null {
  const [number = '', of] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  const sequence = Number(number);
  const genuine = Number.isSafeInteger(sequence) && cursor === feedCursor(merchantId, sequence);
  return genuine && of === mark(merchantId) && sequence >= 0 ? sequence : null;
}

/** One event type, or several separated by commas. */
export const feedTypes = z
  .string()
  .max(400)
  .transform((value) => value.split(','))
  .pipe(z.array(eventType))
  .meta({ shown: { type: 'string', example: 'points.changed,reward.redeemed' } });

export const feedPage = z.object({
  items: z.array(envelope),
  cursor: z.string().describe('send it as `after` to read on; good for as long as events are kept'),
  more: z.boolean().describe('true when the next page can be read at once'),
});
