import { ServiceError } from '../../schemas/errors.js';

/**
 * MongoDB answers, but a change had conflicts with other writes for as long as it is retried. Callers get UNAVAILABLE.
 */
export class StillContended extends ServiceError {
  constructor() {
    super('UNAVAILABLE');
  }
}
