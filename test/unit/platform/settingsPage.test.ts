// docs/settings.md is what operators copy from: each setting is there once, and its default is the one that counts.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configNames, readConfig } from '../../../schemas/shared/config.schema.js';

const required = { CONSOLE_JWT_SECRET: 'x'.repeat(32), SECRETS_KEY: Buffer.alloc(32).toString('base64') };
const page = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| `(\w+)` \| (.*?) \| (.*) \|$/gm)].map(
  ([, name = '', shown = '', meaning = '']) => ({
    name,
    shown,
    value: /^`(.*?)`/.exec(shown)?.[1] ?? '',
    meaning,
  }),
);
const ofConfig = rows.filter(({ name }) => configNames.includes(name));

describe('the page of settings', () => {
  it('has each setting once, with a meaning', () => {
    expect(ofConfig.map(({ name }) => name).sort()).toEqual([...configNames].sort());
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    expect(rows.filter(({ meaning }) => !/\w\w/.test(meaning) || meaning === 'undefined')).toEqual([]);
  });

  it('names those of npm start, too', () => {
    const others = rows.filter(({ name }) => !configNames.includes(name)).map(({ name }) => name);
    expect(others).toEqual(expect.arrayContaining(['STACK_DIR', 'STACK_MONGO_PORT']));
  });

  it.each(ofConfig)('the default of $name, pasted, changes nothing', ({ name, shown, value }) => {
    if (shown === 'required') expect(() => readConfig({ ...required, [name]: undefined })).toThrow(name);
    else expect(readConfig({ ...required, ...(value && { [name]: value }) })).toEqual(readConfig(required));
  });
});
