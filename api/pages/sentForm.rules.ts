// What a browser sent with a program's form, kept in an encrypted cookie of that browser. Each POST is answered with a
// redirect to a page that reads the cookie, so that a page can be loaded again and nothing typed stands in an address.
import type { Context } from 'koa';
import { z } from 'zod';
import type { Program } from '../../schemas/programs/programs.schema.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { setCookie } from '../http/sessionCookie.rules.js';
import { enrollFields } from './enrollForm.view.js';

/** `check`: the form with its mistakes; `sent`: after joining; `lost`: asking for a lost card; `mailed`: after that. */
export const formPages = ['check', 'sent', 'lost', 'mailed'] as const;

const sentForm = z.object({
  page: z.enum(formPages),
  values: z.record(z.string(), z.string()),
  /** The fields with a mistake. */
  wrong: z.array(z.string()).default([]),
  /** The code of an error that is not about a field. */
  refusal: z.string().optional(),
  /** Of the member that joined. Present after every joining, so that its length does not tell whether somebody did. */
  memberId: z.string().optional(),
  /** Of the mail that asks to confirm the address. */
  mailId: z.string().optional(),
  /** Where the link went, while another address is typed and refused. */
  sentTo: z.string().optional(),
});
export type SentForm = z.input<typeof sentForm>;

/** How long an address can be corrected. */
export const formKeptMs = 30 * 60_000;

/** The address that a page names as the one to which the link goes. */
export const addresseeOf = ({ sentTo, values }: Pick<SentForm, 'sentTo' | 'values'>): string =>
  sentTo ?? values.email ?? '';

const cookieName = 'form';
/** Browsers refuse cookies of more than 4,096 bytes, and encryption adds a third. */
const maxBytes = 2_800;

const placeOf = ({ _id }: Program) => ({ collection: 'cookies', id: _id, field: cookieName });

const cut = (text: string, most: number): string => Array.from(text).slice(0, most).join('');

/** Of what does not fit, the fields of the page stay, shortened as little as need be: no consent is lost. */
function textOf(program: Program, form: SentForm): string {
  const text = JSON.stringify(form);
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const fields = [...enrollFields(program), 'marketing'].flatMap((name) => {
    const value = form.values[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const shortened = (most: number) =>
    JSON.stringify({ ...form, values: Object.fromEntries(fields.map(([name, value]) => [name, cut(value, most)])) });
  let most = 254;
  while (most > 0 && Buffer.byteLength(shortened(most)) > maxBytes) most = Math.floor(most / 2);
  return shortened(most);
}

export function keepForm(deps: ApiDeps, ctx: Context, program: Program, form: SentForm): void {
  const value = deps.secrets.seal(textOf(program, form), placeOf(program));
  setCookie(deps, ctx, { name: cookieName, value, maxAgeMs: formKeptMs, path: '/enroll/' });
}

export const forgetForm = (deps: ApiDeps, ctx: Context): void =>
  setCookie(deps, ctx, { name: cookieName, value: '', maxAgeMs: 0, path: '/enroll/' });

/** Undefined without a cookie of this program and page. */
export function readForm(
  { secrets }: Pick<ApiDeps, 'secrets'>,
  ctx: Context,
  program: Program,
  page: SentForm['page'],
): z.output<typeof sentForm> | undefined {
  const sealed = ctx.cookies.get(cookieName);
  if (!sealed) return undefined;
  try {
    const form = sentForm.parse(JSON.parse(secrets.open(sealed, placeOf(program))));
    return form.page === page ? form : undefined;
  } catch {
    // Of another program, or changed: anybody can send any cookie.
    return undefined;
  }
}
