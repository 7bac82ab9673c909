// The operations that take an `Idempotency-Key`; test/unit/sdk/client.test.ts compares them with the OpenAPI document.
export const keyedOperations: ReadonlySet<string> = new Set([
  'post /merchants/me/members',
  'patch /merchants/me/members/{id}/points',
  'post /merchants/me/members/{id}/redeem',
  'post /merchants/me/members/{id}/earn',
  'post /merchants/me/members/{id}/transactions/{transactionId}/reverse',
  'post /merchants/me/members/{id}/transactions/reverse',
  'post /merchants/me/members/import',
  'post /merchants/me/imports',
  'post /merchants/me/webhooks/{id}/replay',
  'post /merchants/me/campaigns',
  'post /till/earn',
  'post /till/redeem',
  'post /till/undo',
]);
