import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { expect, it } from 'vitest';
import { readParts } from '../../../api/batches/imports/uploadParts.rules.js';

it('an upload whose client left before it is read is refused at once', async () => {
  const request = new IncomingMessage(new Socket());
  request.headers['content-type'] = 'multipart/form-data; boundary=part';
  const closed = once(request, 'close');
  request.destroy();
  await closed;
  const ctx = new Koa().createContext(request, new ServerResponse(request));
  const reading = readParts({ ctx, maxBytes: 1_000, take: async () => undefined });
  await expect(reading).rejects.toMatchObject({ code: 'IMPORT_INVALID' });
});
