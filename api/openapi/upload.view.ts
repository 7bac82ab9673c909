// The bodies that are not JSON: the uploaded file (docs/interface.md#48-imports-and-batches) and the exported files
// (4.5).
import type { Endpoint } from '../../schemas/access/endpoint.schema.js';
import { sampleTime } from './examples.view.js';

const csvIn = 'firstName,lastName,email,initialPoints\nAda,Lovelace,ada@example.com,20\n';

const flag = { type: 'string', enum: ['true', 'false'] };

/** The options may be in the query too. */
const multipart = {
  schema: {
    type: 'object',
    required: ['file'],
    properties: {
      programId: { type: 'string', minLength: 1, maxLength: 64 },
      mapping: { type: 'string', contentMediaType: 'application/json', maxLength: 8_192 },
      quiet: flag,
      dryRun: flag,
      file: { type: 'string', format: 'binary', contentMediaType: 'text/csv' },
    },
  },
  encoding: { file: { contentType: 'text/csv' } },
  example: { programId: 'demo-points', file: csvIn },
};

export function uploadBody(endpoint: Endpoint) {
  return {
    required: true,
    content: {
      'multipart/form-data': multipart,
      ...(endpoint.rawUpload && { 'text/csv': { schema: { type: 'string' }, example: csvIn } }),
    },
  };
}

const files: Record<string, string> = {
  exportTimeline: `\uFEFFid,type,outcome,platform,occurredAt,detail\r\n0b6c1f0e,push_sent,success,apple,${sampleTime},\r\n`,
};

export function csvContent(operation: string) {
  const example = files[operation];
  return { 'text/csv': { schema: { type: 'string' }, ...(example !== undefined && { example }) } };
}
