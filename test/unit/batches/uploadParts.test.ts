import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { readParts } from '../../../api/batches/imports/uploadParts.rules.js';

it('an upload whose client left before it is read is refused at once', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=part' };
  const req = Object.assign(new PassThrough(), { headers, complete: false });
  req.destroy();
  await once(req, 'close');
  const ctx = { req, get: () => headers['content-type'] } as unknown as Context;
  const reading = readParts({ ctx, maxBytes: 1_000, take: async () => undefined });
  await expect(reading).rejects.toMatchObject({ code: 'IMPORT_INVALID' });
});
