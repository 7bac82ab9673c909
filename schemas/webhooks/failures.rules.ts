// Why an attempt failed, as merchants see it: a class of failures, never the message of a resolver or a socket, so that
// no subscription can be used to explore the operator's network.
export const webhookFailures = [
  'timeout',
  'dns',
  'tls',
  'refused',
  'reset',
  'blocked_address',
  /** The answer is not HTTP/1.1. */
  'protocol',
  /** A status other than 2xx and 410, redirects included. */
  'status',
  /** 410: the delivery ends and the subscription is disabled. */
  'gone',
  /** This service aborted the attempt (shutdown, cancellation); this says nothing about the receiver. */
  'aborted',
  /** An error inside this service. */
  'internal',
] as const;

export type WebhookFailure = (typeof webhookFailures)[number];
