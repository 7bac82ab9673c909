// The test that shows each endpoint at work, for whoever reads docs/endpoints.md. The last test of a whole run checks that
// the file really calls it.
import type { EndpointName } from '../../schemas/endpoints/index.js';

export const provenBy: Partial<Record<EndpointName, string>> = {};
