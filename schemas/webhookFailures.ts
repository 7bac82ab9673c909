// Why an attempt did not succeed, as merchants see it: a class and never a resolver's or a socket's own words, so that no
// subscription can be used to look into the operator's network.
export const webhookFailures = [
  'timeout',
  'dns',
  'tls',
  'refused',
  'reset',
  'blocked_address',
  /** An answer that is not HTTP/1.1, or whose headers are larger than 16 KB. */
  'protocol',
  /** Any status but 2xx and 410, redirects included. */
  'status',
  /** 410: the delivery ends and the subscription is disabled. */
  'gone',
  /** Called off by this service (shutdown, cancellation): says nothing about the receiver. */
  'aborted',
  /** A fault of this service's own. */
  'internal',
] as const;

export type WebhookFailure = (typeof webhookFailures)[number];
