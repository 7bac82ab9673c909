// The limits of one merchant. Each limit is a setting for all merchants, and operators may set another number for one
// merchant (`npm run merchants -- limit`).
import type { Config } from '../shared/config.schema.js';

/** The setting of each limit; errors name the limit by its setting. */
export const merchantLimits = {
  requests: 'RATE_LIMIT_AUTHENTICATED',
  runningBatches: 'MERCHANT_MAX_RUNNING_BATCHES',
  campaignsADay: 'MERCHANT_MAX_CAMPAIGNS_A_DAY',
  waitingRows: 'MERCHANT_MAX_WAITING_ROWS',
  programs: 'MERCHANT_MAX_PROGRAMS',
  imageBytes: 'MERCHANT_MAX_IMAGE_BYTES',
  roles: 'MERCHANT_MAX_ROLES',
  users: 'MERCHANT_MAX_USERS',
  tags: 'MERCHANT_MAX_TAGS',
  apiKeys: 'MERCHANT_MAX_API_KEYS',
  readers: 'MERCHANT_MAX_READERS',
} as const satisfies Record<string, keyof Config>;

export type MerchantLimit = keyof typeof merchantLimits;
export type MerchantLimits = Record<MerchantLimit, number>;
