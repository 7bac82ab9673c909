// docs/settings.md, from the schemas of the settings.
import type { z } from 'zod';
import { settingSections } from '../../../schemas/shared/settings.schema.js';
import { stackEnvironment } from '../../../stack/settings.js';

const head = `# Settings

Environment variables, checked at start: a process with a wrong one names every mistake and exits with code 78. \`NAME_FILE\` reads
the value of \`NAME\` from a file. \`true\` and \`1\`, \`false\` and \`0\` mean the same. Without a default a setting is not set.
`;

const units: [ending: RegExp, name: string, size: number][] = [
  [/_MS$/, 'days', 86_400_000],
  [/_MS$/, 'hours', 3_600_000],
  [/_MS$/, 'minutes', 60_000],
  [/_BYTES$/, 'MiB', 1_048_576],
];

/** A number of milliseconds or bytes as people say it; empty for other settings. */
function spoken(name: string, value: unknown): string {
  const unit = units.find(
    ([ending, , size]) => ending.test(name) && Number(value) >= 2 * size && Number(value) % size === 0,
  );
  return unit ? ` (${Number(value) / unit[2]} ${unit[1]})` : '';
}

function defaultOf(name: string, schema: z.ZodType): string {
  const parsed = schema.safeParse(undefined);
  if (!parsed.success) return 'required';
  const text = String(parsed.data ?? '');
  return text && `\`${text}\`${spoken(name, parsed.data)}`;
}

const section = ([title, settings]: [string, Record<string, z.ZodType>]): string => `
## ${title}

| setting | default | meaning |
|---|---|---|
${Object.entries(settings)
  .map(([name, schema]) => `| \`${name}\` | ${defaultOf(name, schema)} | ${schema.description} |`)
  .join('\n')}
`;

export const settingsPage = (): string =>
  head +
  Object.entries({ ...settingSections, '`npm start`': stackEnvironment.shape })
    .map(section)
    .join('');
