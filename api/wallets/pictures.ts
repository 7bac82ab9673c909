// The pictures of a program for Google's class and the public pages: the pictures of its template, or a drawn icon.
import Router from '@koa/router';
import { defaultIcon } from '../../activities/wallets/apple/stampStrip.js';
import { ServiceError } from '../../schemas/errors.js';
import type { PassTemplate } from '../../schemas/passTemplate.js';
import type { ApiDeps } from '../apiDeps.js';

type Picture = PassTemplate['images']['logo'];

/** The picture with the most pixels. */
function largest(picture: Picture): string | undefined {
  return typeof picture === 'object' ? (picture['3x'] ?? picture['2x'] ?? picture['1x']) : picture;
}

function drawnIcon({ background, foreground }: PassTemplate['colors']): Buffer | undefined {
  return defaultIcon({ paper: background, ink: foreground }).at(-1)?.[1];
}

export function pictureRoutes(deps: ApiDeps): Router {
  const router = new Router({ prefix: '/wallet/images' });
  router.get('/:programId/:name.png', async (ctx) => {
    const { programId = '', name = '' } = ctx.params;
    const program = await deps.collections.programs.findOne({ _id: programId }, { projection: { passTemplate: 1 } });
    if (!program) throw new ServiceError('PROGRAM_NOT_FOUND');
    const { images, colors } = program.passTemplate;
    const given = name === 'strip' ? largest(images.strip) : largest(images.logo ?? images.icon);
    const drawn = name === 'logo' ? drawnIcon(colors) : undefined;
    const picture = given === undefined ? drawn : Buffer.from(given, 'base64');
    if (!picture || (name !== 'logo' && name !== 'strip')) throw new ServiceError('ROUTE_NOT_FOUND');
    ctx.type = 'image/png';
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = picture;
  });
  return router;
}
