// The configuration: environment variables that are all checked at start. One error message names every wrong variable.
import type { z } from 'zod';
import './mistakes.rules.js';
import { environment } from './settings.schema.js';

// Both run even if another variable is wrong, so that one message has all mistakes.
const consistent = environment
  .refine((config) => config.CONSOLE_JWT_SECRET || config.CONSOLE_JWKS_URL, {
    path: ['CONSOLE_JWT_SECRET'],
    message: 'is required, unless CONSOLE_JWKS_URL is set',
    when: () => true,
  })
  .refine(
    (config) => !config.CONSOLE_OIDC_ISSUER || (config.CONSOLE_OIDC_CLIENT_ID && config.CONSOLE_OIDC_CLIENT_SECRET),
    {
      path: ['CONSOLE_OIDC_ISSUER'],
      message: 'needs CONSOLE_OIDC_CLIENT_ID and CONSOLE_OIDC_CLIENT_SECRET',
      when: () => true,
    },
  );

export type Config = Omit<z.output<typeof environment>, 'PUBLIC_URL'> & { PUBLIC_URL: string };

export type MailSettings = Pick<Config, 'SMTP_URL' | 'MAIL_FOLDER'>;

/** Whether mails are sent at all. */
export const isMailOn = ({ SMTP_URL, MAIL_FOLDER }: MailSettings): boolean => (SMTP_URL ?? MAIL_FOLDER) !== undefined;

/** How long a sign-in link works, in minutes. */
export const signInMinutes = ({ SIGN_IN_LINK_MS }: Pick<Config, 'SIGN_IN_LINK_MS'>): number =>
  Math.round(SIGN_IN_LINK_MS / 60_000);

/** The names of all variables; compose files and documents are checked against them. */
export const configNames = Object.keys(environment.shape);

/** Exit code of a process whose configuration is wrong (EX_CONFIG). */
export const configExitCode = 78;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** One line for each wrong variable: `NAME: the mistake`. */
  constructor(readonly mistakes: readonly string[]) {
    super(['The configuration is wrong:', ...mistakes.map((mistake) => `  ${mistake}`)].join('\n'));
  }
}

/** Throws ConfigError; its message names every wrong variable on a line of its own. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const parsed = consistent.safeParse(env);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  }
  const config = parsed.data;
  return { ...config, PUBLIC_URL: (config.PUBLIC_URL ?? `http://${config.HOST}:${config.PORT}`).replace(/\/+$/, '') };
}
