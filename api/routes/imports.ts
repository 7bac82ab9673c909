import { ServiceError } from '../../schemas/errors.js';
import type { Routes } from '../request.js';

export const importRoutes: Routes<'importMembers'> = {
  async importMembers() {
    throw new ServiceError('UNAVAILABLE');
  },
};
