// The search attributes by which operators find workflows. All of them must exist on the Temporal server before the
// first workflow starts: Temporal refuses a start that names an unknown attribute.

export const searchAttributeNames = [
  'MerchantId',
  'ProgramId',
  'MemberId',
  'SubscriptionId',
  'EventId',
  'EventType',
  'BatchId',
] as const;
