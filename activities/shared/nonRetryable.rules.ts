// The failure of an activity that a retry cannot repair; its type is the error code.
import { ApplicationFailure } from '@temporalio/common';
import type { ServiceError } from '../../schemas/shared/errors.js';

export const nonRetryable = ({ code, message }: ServiceError): ApplicationFailure =>
  ApplicationFailure.create({ type: code, message, nonRetryable: true });
