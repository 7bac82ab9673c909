// What a phone shows of a pass in the languages that it is set to: Wallet takes the first of them that has a pass.strings,
// and replaces each text that equals one of its keys.

import { readStrings } from './passStrings.js';
import type { PassJson, Pkpass } from './pkpass.js';

const fileOf = (language: string) => `${language}.lproj/pass.strings`;

/** The languages of a pass. */
export const languagesOf = ({ files }: Pick<Pkpass, 'files'>): string[] =>
  [...files.keys()].flatMap((name) => /^(.+)\.lproj\/pass\.strings$/.exec(name)?.[1] ?? []);

/** As a phone shows it whose Wallet uses this file; undefined: none. */
export function shownWith(json: PassJson, file: Buffer | undefined): PassJson {
  const strings = file === undefined ? new Map<string, string>() : readStrings(file);
  const text = JSON.stringify(json);
  return JSON.parse(text, (_, value) => (typeof value === 'string' ? (strings.get(value) ?? value) : value));
}

/** As a phone shows it that prefers these languages, the first most. */
export function shownIn({ json, files }: Pkpass, preferred: readonly string[] = ['en']): PassJson {
  const candidates = preferred.flatMap((tag) => [tag, tag.split('-', 1)[0] ?? tag]);
  return shownWith(
    json,
    candidates.map((tag) => files.get(fileOf(tag))).find((file) => file !== undefined),
  );
}
