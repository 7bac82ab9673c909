// Makes .pkpass files. `compileTemplate` checks, hashes and frames everything that the passes of a template share,
// once. `buildPass` then only writes, hashes and signs the data of one member, in well under 1 ms
// (docs/decisions/passes-signed-by-our-own-code.md).
import { createHash } from 'node:crypto';
import type { PassTemplate } from '../../../schemas/programs/passTemplate.schema.js';
import { isLanguage } from '../../../schemas/shared/languages/codes.rules.js';
import { type ApplePassView, type PassDesign, passJson } from '../../../schemas/wallets/apple/pass.view.js';
import { passStrings, stringsFile } from '../../../schemas/wallets/apple/passStrings.rules.js';
import type { RealAppleCredentials } from './credentials.rules.js';
import { signManifest } from './signature.rules.js';
import { defaultIcon, drawStrip, scaledName, stripEnds, stripStep } from './stampStrip.view.js';
import {
  checkTemplate,
  type PassIdentity,
  PassTemplateError,
  type TemplatedProgram,
  templateImages,
} from './templateCheck.rules.js';
import { type ZipFile, zip, zipFile } from './zip.rules.js';

interface PackedFile extends ZipFile {
  /** The file's entry in manifest.json: `"icon.png":"<SHA-1>"`. */
  manifestLine: string;
}

export interface CompiledTemplate {
  design: PassDesign;
  files: readonly PackedFile[];
  /**
   * The drawn strip for a balance, for stamp programs whose template has no strip. Each step is drawn once and cached.
   */
  strip?: (balance: number) => readonly PackedFile[];
}

function packed(name: string, bytes: Buffer): PackedFile {
  const sha1 = createHash('sha1').update(bytes).digest('hex');
  return { ...zipFile(name, bytes), manifestLine: `${JSON.stringify(name)}:"${sha1}"` };
}

/** A stored template may have a code that is refused since and is no language; phones ignore its texts. */
function withoutUnknownLanguages(program: TemplatedProgram): TemplatedProgram {
  const { passTemplate: template } = program;
  if (!template?.locales) return program;
  const locales = Object.fromEntries(Object.entries(template.locales).filter(([code]) => isLanguage(code)));
  return { ...program, passTemplate: { ...template, locales } };
}

/** Called once for each version of a template. Throws PassTemplateError with all problems found. */
export function compileTemplate(identity: PassIdentity, program: TemplatedProgram): CompiledTemplate {
  const check = checkTemplate(identity, withoutUnknownLanguages(program));
  if (!check.ok) throw new PassTemplateError(check.problems);
  const { template, design } = check;
  const icon = template.images.icon === undefined ? defaultIcon(inks(template)) : [];
  const given = templateImages(template).map(
    ({ name, scale, base64 }) => [scaledName(name, scale), Buffer.from(base64, 'base64')] as const,
  );
  const pdfs = Object.entries(template.images).flatMap(([name, picture]) =>
    typeof picture === 'object' && picture.pdf !== undefined
      ? [[`${name}.pdf`, Buffer.from(picture.pdf, 'base64')] as const]
      : [],
  );
  const strings = [...passStrings(program, template)].map(
    ([language, table]) => [`${language}.lproj/pass.strings`, Buffer.from(stringsFile(table))] as const,
  );
  const files = [...icon, ...given, ...pdfs, ...strings].map(([name, bytes]) => packed(name, bytes));
  if (program.style !== 'stamps' || program.goal === undefined || template.images.strip !== undefined) {
    return { design, files };
  }
  const strip = strips(program.goal, inks(template));
  strip(0);
  return { design, files, strip };
}

const inks = ({ colors }: PassTemplate) => ({ paper: colors.background, ink: colors.foreground });

function strips(goal: number, colors: { paper: string; ink: string }): (balance: number) => readonly PackedFile[] {
  const ends = stripEnds(goal);
  const drawn = new Map<number, readonly PackedFile[]>();
  return (balance) => {
    const step = stripStep(goal, balance);
    const kept = drawn.get(step);
    if (kept !== undefined) return kept;
    const files = drawStrip(ends, { goal, step, colors }).map(([name, png]) => packed(name, png));
    drawn.set(step, files);
    return files;
  };
}

const filesBeside = ({ files, strip }: CompiledTemplate, { balance }: ApplePassView): readonly PackedFile[] => [
  ...files,
  ...(strip?.(balance) ?? []),
];

/** The contents of a member's .pkpass without the signature: pass.json, and the other files by name. */
export function passContent(compiled: CompiledTemplate, view: ApplePassView) {
  const files = filesBeside(compiled, view).map(({ name, bytes }) => [name, bytes] as const);
  return { json: passJson(compiled.design, view), files: new Map(files) };
}

/** Builds one member's signed .pkpass. Blocks the event loop for about one RSA signature. */
export function buildPass(
  credentials: RealAppleCredentials,
  compiled: CompiledTemplate,
  view: ApplePassView,
  signedAt: Date = new Date(),
): Buffer {
  const content = packed('pass.json', Buffer.from(JSON.stringify(passJson(compiled.design, view, signedAt))));
  const files = [content, ...filesBeside(compiled, view)];
  const manifest = Buffer.from(`{${files.map(({ manifestLine }) => manifestLine).join(',')}}`);
  const signature = signManifest(credentials.signer, manifest, signedAt);
  return zip([...files, zipFile('manifest.json', manifest), zipFile('signature', signature)]);
}
