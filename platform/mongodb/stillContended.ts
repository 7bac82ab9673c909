import { ServiceError } from '../../schemas/shared/errors.js';

/** MongoDB answers, but a change met conflicts with other writes until its retries ended. Callers get UNAVAILABLE. */
export class StillContended extends ServiceError {
  constructor() {
    super('UNAVAILABLE');
  }
}
