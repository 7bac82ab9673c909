// The pictures of a program for Google's class and the public pages: the pictures of its template, or a drawn icon.
// Anybody may request them, so a program is read at most once a second, and its pictures are built once for each
// reading.
import Router from '@koa/router';
import { LRUCache } from 'lru-cache';
import { defaultIcon } from '../../activities/wallets/apple/stampStrip.view.js';
import { largestOf, type PassTemplate } from '../../schemas/programs/passTemplate.schema.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { lowerUuid } from '../../schemas/shared/ids.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { withinStrangersLimit } from '../http/guard.js';
import { type KeptAnswer, keptAnswer, sendKept } from '../http/keptAnswer.js';

const drawn = new LRUCache<string, Buffer>({ max: 500 });

function drawnIcon({ background, foreground }: PassTemplate['colors']): Buffer | undefined {
  const key = `${background} ${foreground}`;
  const icon = drawn.get(key) ?? defaultIcon({ paper: background, ink: foreground }).at(-1)?.[1];
  if (icon) drawn.set(key, icon);
  return icon;
}

type Template = Pick<Program, 'passTemplate'>;

function pictureOf({ passTemplate: { images, colors } }: Template, name: string): KeptAnswer | undefined {
  if (name !== 'logo' && name !== 'strip') return undefined;
  const given = largestOf(name === 'strip' ? images.strip : (images.logo ?? images.icon));
  const icon = name === 'logo' && given === undefined ? drawnIcon(colors) : undefined;
  const bytes = given === undefined ? icon : Buffer.from(given, 'base64');
  return bytes && keptAnswer({ bytes, type: 'image/png', cacheControl: 'public, max-age=300' });
}

export function pictureRoutes(deps: ApiDeps): Router {
  const router = new Router({ prefix: '/wallet/images' });
  const made = new WeakMap<Template, Map<string, KeptAnswer | undefined>>();
  router.get('/:programId/:name.png', async (ctx) => {
    const { programId = '', name = '' } = ctx.params;
    const _id = lowerUuid(programId);
    const program = await deps.cached<Template>(`pictures:${_id}`, () =>
      deps.collections.programs.findOne({ _id }, { projection: { passTemplate: 1 } }),
    );
    if (!program) {
      if (!(await withinStrangersLimit(deps, ctx))) return;
      throw new ServiceError('PROGRAM_NOT_FOUND');
    }
    const pictures = made.get(program) ?? new Map();
    made.set(program, pictures);
    if (!pictures.has(name)) pictures.set(name, pictureOf(program, name));
    const picture = pictures.get(name);
    if (!picture) throw new ServiceError('ROUTE_NOT_FOUND');
    sendKept(ctx, picture);
  });
  return router;
}
