// The test that shows each endpoint at work, for whoever reads docs/endpoints.md. The last test of a whole run checks that
// the file really calls it.
import type { EndpointName } from '../../schemas/endpoints/index.js';

export const provenBy: Partial<Record<EndpointName, string>> = {
  replayRange: 'test/engines/replayRange.test.ts',
  enrollPublicly: 'test/engines/publicEnrollment.test.ts',
  scanPass: 'test/engines/scans.test.ts',
  readFeed: 'test/engines/feed.test.ts',
  sendCampaign: 'test/engines/campaigns.test.ts',
  getCampaign: 'test/engines/campaigns.test.ts',
};
