// The overview (docs/interface.md#410-overview-and-audit).
import { z } from 'zod';
import { endpoint } from '../access/endpoint.schema.js';
import { idText } from '../shared/text.js';
import { stats, statsDay } from './stats.schema.js';

export const maxStatsDays = 400;

export const statsEndpoints = {
  readStats: endpoint('get', '/merchants/me/stats', {
    tag: 'Overview',
    summary: 'Members, installs, points, redeems and deliveries, by day and by program',
    description: `Read from counters that are kept as things happen, so it is as fast for a million members. Days are those of each program's time zone, \`from\` and \`to\` included, at most ${maxStatsDays}; without them the last 30.`,
    access: 'merchants.members:view',
    query: z.strictObject({
      from: statsDay.optional().describe('29 days before `to`, when left out'),
      to: statsDay.optional().describe('today, when left out'),
      programId: idText().optional(),
    }),
    result: stats,
  }),
};
