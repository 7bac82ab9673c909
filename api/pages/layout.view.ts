// The frame of the public pages: one style sheet in the program's colours, no script except the service's own file, and
// nothing from another server.
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { Html, html } from '../../platform/html.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import type { Language } from '../../schemas/shared/languages/index.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { keptAnswer, sendKept } from '../http/keptAnswer.js';
import { style } from './style.view.js';

export interface Page {
  title: string;
  language: Language;
  program?: Program;
  body: Html;
  /** `wide`: two columns where there is room; `split`: one panel with two halves. */
  shape?: 'wide' | 'split';
  script?: boolean;
  status?: number;
  /** Cache-Control of a page that may be cached; other pages are not stored. */
  cacheControl?: string;
}

const neutral = { background: '#27272a', foreground: '#ffffff', label: '#d4d4d8' };

/** The path prefix of PUBLIC_URL: a proxy may serve the service below a path. Empty without a prefix. */
export const basePath = ({ config }: Pick<ApiDeps, 'config'>): string =>
  new URL(config.PUBLIC_URL).pathname.replace(/\/$/, '');

export const pictureUrl = (deps: Pick<ApiDeps, 'config'>, program: Program, name: 'logo' | 'strip'): string =>
  `${basePath(deps)}/wallet/images/${encodeURIComponent(program._id)}/${name}.png`;

/** Undefined without a picture that stands for the program. */
export function logoOf(deps: Pick<ApiDeps, 'config'>, program: Program): string | undefined {
  const { logo, icon } = program.passTemplate.images;
  return logo || icon ? pictureUrl(deps, program, 'logo') : undefined;
}

/**
 * The page of the demo's live desk that puts a member's card on its phones; `of` is what the console searches for.
 * Undefined outside of the demo. The part after `#` is not sent to the server, so no log has it.
 */
export function deskUrl(deps: Pick<ApiDeps, 'config'>, { of, program }: { of: string; program: Program }) {
  if (deps.config.LIVE_DESK_URL === undefined) return undefined;
  return `${basePath(deps)}/console/live-desk#${new URLSearchParams({ of, program: programIdOf(program._id) })}`;
}

/** The page, and its style sheet, whose hash the Content-Security-Policy needs. */
export function pageHtml(deps: Pick<ApiDeps, 'config'>, page: Page): { text: string; rules: string } {
  const { title, language, program, body, shape, script = false } = page;
  const { background, foreground, label } = program?.passTemplate.colors ?? neutral;
  const colors = `:root { --paper: ${background}; --ink: ${foreground}; --label: ${label}; }`;
  const rules = colors + style;
  const icon = program ? pictureUrl(deps, program, 'logo') : 'data:,';
  const shown = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="theme-color" content="${background}">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${new Html(rules)}</style>
${script && html`<script src="${basePath(deps)}/passes/card.js" defer></script>`}
</head>
<body><main class="${shape}">${body}</main></body>
</html>
`;
  return { text: shown.text, rules };
}

export function sendPage(deps: ApiDeps, ctx: Context, page: Page): void {
  const { status = 200, cacheControl } = page;
  const { text, rules } = pageHtml(deps, page);
  const ours = new URL(deps.config.PUBLIC_URL).origin;
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.set(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(rules).digest('base64')}'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self' ${ours}; base-uri 'none'; frame-ancestors 'none'`,
  );
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.vary('Accept-Language');
  ctx.set('Cache-Control', 'no-store');
  if (cacheControl === undefined) ctx.body = text;
  else sendKept(ctx, keptAnswer({ bytes: Buffer.from(text), type: 'text/html; charset=utf-8', cacheControl }));
}
