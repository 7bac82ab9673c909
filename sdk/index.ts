export type { Answer, ClientOptions, EventsOptions, LoyaltyClient, LoyaltyEvent } from './client.js';
export { createClient } from './client.js';
export type { ErrorCode } from './errors.js';
export { LoyaltyError } from './errors.js';
export type { components, operations, paths } from './openapi.js';
export type { RetryOptions } from './retry.js';
export type { RawBody, VerifyOptions, WebhookHeaders, WebhookRefusal } from './verifyWebhook.js';
export { verifyWebhook, WebhookVerificationError } from './verifyWebhook.js';
