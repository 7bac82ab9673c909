// The two bodies that are no JSON: the file that comes in (interface 4.3 import) and the file that goes out (4.5).
import { sampleTime } from './examples.js';

const csvIn = 'firstName,lastName,email,initialPoints\nAda,Lovelace,ada@example.com,20\n';
const csvOut = `\uFEFFid,type,outcome,platform,occurredAt,detail\r\n0b6c1f0e,push_sent,success,apple,${sampleTime},\r\n`;

export const uploadBody = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['programId', 'file'],
        properties: {
          programId: { type: 'string', minLength: 1, maxLength: 64 },
          file: { type: 'string', format: 'binary', contentMediaType: 'text/csv' },
        },
      },
      encoding: { file: { contentType: 'text/csv' } },
      example: { programId: 'demo-points', file: csvIn },
    },
  },
};

export const csvExample = { 'text/csv': { schema: { type: 'string' }, example: csvOut } };
