// The frame of the public pages: one small style sheet in the program's colours, no script but our own file, nothing from
// anybody else's server.
import type { Context } from 'koa';
import { newToken } from '../../schemas/ids.js';
import type { Program } from '../../schemas/programs.js';
import { Html, html } from './html.js';

export interface Page {
  title: string;
  program?: Program;
  body: Html;
  script?: boolean;
  status?: number;
}

const style = `
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; background: #f4f4f5; color: #18181b; display: grid; place-items: start center; padding: 1.25rem; }
main { width: 100%; max-width: 24rem; }
h1 { font-size: 1.35rem; margin: 0 0 1rem; }
.card { background: var(--paper); color: var(--ink); border-radius: 1rem; padding: 1.25rem; box-shadow: 0 8px 24px rgb(0 0 0 / .18); }
.card header { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem; }
.card h1 { margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
.label { display: block; color: var(--label); font-size: .72rem; letter-spacing: .06em; text-transform: uppercase; }
.balance { font-size: 2.6rem; line-height: 1.1; font-weight: 650; margin: 1rem 0 .25rem; }
.stamps { list-style: none; display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; margin: .75rem 0; }
.stamps li { width: 2rem; height: 2rem; border-radius: 50%; border: 2px solid currentColor; opacity: .55; }
.stamps li.full { background: currentColor; opacity: 1; }
.facts { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; margin: .75rem 0 1rem; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.facts dt { margin: 0; }
.code { background: #fff; color: #18181b; border-radius: .75rem; padding: 1rem; text-align: center; }
.code svg { width: 11rem; height: 11rem; display: block; margin: 0 auto .5rem; }
.code strong { font: 600 1.05rem/1.2 ui-monospace, monospace; letter-spacing: .08em; }
.banner { background: #7f1d1d; color: #fff; border-radius: .5rem; padding: .4rem .75rem; margin: .75rem 0; }
.message { margin: .75rem 0 0; }
.actions { display: grid; gap: .75rem; margin-top: 1rem; }
.button, button { display: block; width: 100%; text-align: center; text-decoration: none; border: 0; border-radius: .75rem; padding: .8rem 1rem; font: inherit; font-weight: 600; background: #18181b; color: #fff; cursor: pointer; }
.button:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid #2563eb; outline-offset: 2px; }
form { background: #fff; border-radius: 1rem; padding: 1.25rem; box-shadow: 0 8px 24px rgb(0 0 0 / .1); }
form .brand { margin: -1.25rem -1.25rem 1rem; padding: 1rem 1.25rem; border-radius: 1rem 1rem 0 0; background: var(--paper); color: var(--ink); }
.field { margin-bottom: 1rem; }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
input { width: 100%; font: inherit; padding: .6rem .7rem; border: 1px solid #a1a1aa; border-radius: .5rem; background: #fff; color: inherit; }
input[aria-invalid=true] { border-color: #b91c1c; }
.error { color: #b91c1c; margin: .25rem 0 0; font-size: .9rem; }
.note { color: #52525b; font-size: .9rem; }
.elsewhere { margin-top: 1.25rem; text-align: center; }
.elsewhere svg { width: 8rem; height: 8rem; }
@media (max-width: 40rem) { .elsewhere { display: none; } }
`;

const neutral = { background: '#27272a', foreground: '#ffffff', label: '#d4d4d8' };

export function sendPage(ctx: Context, { title, program, body, script = false, status = 200 }: Page): void {
  const nonce = newToken(12);
  const { background, foreground, label } = program?.passTemplate.colors ?? neutral;
  const colors = `:root { --paper: ${background}; --ink: ${foreground}; --label: ${label}; }`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style nonce="${nonce}">${new Html(colors + style)}</style>
${script && html`<script src="/passes/card.js" defer></script>`}
</head>
<body><main>${body}</main></body>
</html>
`;
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.set(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cache-Control', 'no-store');
  ctx.body = page.text;
}
