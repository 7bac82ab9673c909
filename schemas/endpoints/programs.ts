// Endpoints: docs/interface.md#42-programs.
import { z } from 'zod';
import { programRecord } from '../programs.js';
import { endpoint } from './endpoint.js';

const common = { tag: 'Programs', access: 'merchants.programs:view' } as const;

export const programEndpoints = {
  listPrograms: endpoint('get', '/merchants/me/programs', {
    ...common,
    summary: 'List programs',
    result: z.array(programRecord),
  }),
  getProgram: endpoint('get', '/merchants/me/programs/:id', {
    ...common,
    summary: 'Read one program',
    result: programRecord,
    errors: ['PROGRAM_NOT_FOUND'],
  }),
};
