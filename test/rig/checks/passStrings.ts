// Reads a pass.strings by a parser of Apple's format that is not ours.
import { parse } from '@plist/openstep.parse';

/** The entries. Throws for another form. */
export const readStrings = (file: Buffer): Map<string, string> =>
  new Map(Object.entries(parse(`{${file.toString('utf8')}}`) as Record<string, string>));
