// The names that operators search workflows by. Every one must exist on the Temporal server before the first workflow
// starts: a start that names an unknown attribute is refused.

export const searchAttributeNames = [
  'MerchantId',
  'ProgramId',
  'MemberId',
  'SubscriptionId',
  'EventId',
  'EventType',
  'BatchId',
] as const;
