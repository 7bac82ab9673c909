// The log of requests. It is read-only.
import { ServiceError } from '../../schemas/shared/errors.js';
import type { requestEndpoints } from '../../schemas/stats/requests.routes.js';
import type { Routes } from '../http/request.js';
import { findRequest, listRequests, readFollowed } from './requests.reads.js';
import { presentRequest, presentTrace } from './requests.view.js';

export const requestRoutes: Routes<keyof typeof requestEndpoints> = {
  async listRequests({ deps, caller: { merchantId }, query }) {
    const { page, pageSize } = query;
    const { items, total } = await listRequests(deps, { merchantId, ...query });
    return { data: { items: items.map(presentRequest), page, pageSize, total } };
  },

  async readRequest({ deps, caller: { merchantId }, params: { requestId = '' } }) {
    const found = await findRequest(deps, { requestId, merchantId });
    if (!found) throw new ServiceError('REQUEST_NOT_FOUND');
    return { data: presentTrace(found, await readFollowed(deps, found.row)) };
  },
};
