// Endpoints: docs/interface.md#42-programs.
import { z } from 'zod';
import { programRecord } from '../programs.js';
import { endpoint } from './endpoint.js';

const common = { method: 'get', tag: 'Programs', access: 'merchants.programs:view', statuses: [200] } as const;

export const programEndpoints = {
  listPrograms: endpoint({
    ...common,
    path: '/merchants/me/programs',
    summary: 'List programs',
    result: z.array(programRecord),
    errors: [],
  }),
  getProgram: endpoint({
    ...common,
    path: '/merchants/me/programs/:id',
    summary: 'Read one program',
    result: programRecord,
    errors: ['PROGRAM_NOT_FOUND'],
  }),
};
