// Checks a template before passes are made of it: first our schema, then the pixels of its images, then the rules of
// Apple's format as passkit-generator knows them. That library drops invalid content and only prints a warning, so a
// warning counts as a refusal here, and so does any difference between the content that it got and the content that it
// would write.
import { isDeepStrictEqual } from 'node:util';
import { inflateSync } from 'node:zlib';
import { PKPass } from 'passkit-generator';
import { toError } from '../../../platform/toError.js';
import {
  type PassTemplate,
  type PassTemplateInput,
  passTemplate,
} from '../../../schemas/programs/passTemplate.schema.js';
import { readPng } from '../../../schemas/programs/png.rules.js';
import {
  type ApplePassView,
  type PassDesign,
  type PassProgram,
  passDesign,
  passJson,
} from '../../../schemas/wallets/apple/pass.view.js';
import { passStrings } from '../../../schemas/wallets/apple/passStrings.rules.js';

export interface TemplateProblem {
  path: string;
  message: string;
}

export interface PassIdentity {
  passTypeId: string;
  teamId: string;
}

/** The part of a program that its passes depend on; without a template the default template applies. */
export interface TemplatedProgram extends PassProgram {
  passTemplate?: PassTemplateInput;
}

export type TemplateCheck =
  | { ok: true; template: PassTemplate; design: PassDesign }
  | { ok: false; problems: TemplateProblem[] };

export class PassTemplateError extends Error {
  readonly problems: readonly TemplateProblem[];

  constructor(problems: readonly TemplateProblem[]) {
    super(`The pass template is refused: ${problems.map(({ path, message }) => `${path}: ${message}`).join('; ')}`);
    this.name = 'PassTemplateError';
    this.problems = problems;
  }
}

/** For checks without credentials, such as `programs apply`: values in a form that Apple would accept. */
const ANY_IDENTITY: PassIdentity = { passTypeId: 'pass.com.example.loyalty', teamId: 'TEAM123456' };

export function templateProblems(program: TemplatedProgram): TemplateProblem[] {
  const check = checkTemplate(ANY_IDENTITY, program);
  return check.ok ? [] : check.problems;
}

export function checkTemplate(identity: PassIdentity, program: TemplatedProgram): TemplateCheck {
  const parsed = passTemplate.safeParse(program.passTemplate);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => problem(path.map(String), message));
    return { ok: false, problems };
  }
  const template = parsed.data;
  const design = passDesign(identity, program, template);
  const problems = [...imageProblems(template), ...formatProblems(design, passStrings(program, template))];
  return problems.length > 0 ? { ok: false, problems } : { ok: true, template, design };
}

function problem(path: readonly string[], message: string): TemplateProblem {
  return { path: ['passTemplate', ...path].join('.'), message };
}

/** Returns the PNGs of a template by name and screen scale, still in base64. */
export function templateImages(template: PassTemplate): { name: string; scale: 1 | 2 | 3; base64: string }[] {
  return Object.entries(template.images).flatMap(([name, given]) => {
    const scales = typeof given === 'string' ? { '1x': given, '2x': given, '3x': given } : given;
    return ([1, 2, 3] as const).flatMap((scale) => {
      const base64 = scales?.[`${scale}x`];
      return base64 === undefined ? [] : [{ name, scale, base64 }];
    });
  });
}

function imageProblems(template: PassTemplate): TemplateProblem[] {
  return templateImages(template).flatMap(({ name, scale, base64 }) =>
    hasAllPixels(Buffer.from(base64, 'base64'))
      ? []
      : [problem(['images', name, `${scale}x`], 'the image has damaged pixels')],
  );
}

/**
 * Whether the pixel data unpacks to the size that the header states. For interlaced images only the unpacking is
 * checked.
 */
function hasAllPixels(png: Buffer): boolean {
  const reading = readPng(png);
  if (!reading.ok) return false;
  const expected = reading.height * (1 + Math.ceil((reading.width * reading.bitsPerPixel) / 8));
  try {
    const rows = inflateSync(pixelData(png), { maxOutputLength: expected * 2 + 1024 });
    return reading.interlaced || rows.length === expected;
  } catch {
    return false;
  }
}

function pixelData(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  return Buffer.concat(parts);
}

const SAMPLE: ApplePassView = {
  serialNumber: '00000000-0000-4000-8000-000000000000',
  authenticationToken: 'sample-token-of-enough-length',
  memberCode: '0123456789',
  barcode: '0123456789',
  label: 'POINTS',
  balance: 0,
  status: 'active',
  messageSequence: 0,
  webServiceURL: 'https://passes.example.com/wallet/apple',
  updatedAt: new Date(0),
};

/** Together these views show every field that a pass can have. */
export const SAMPLES: readonly ApplePassView[] = [
  SAMPLE,
  {
    ...SAMPLE,
    displayName: 'Sam Sample',
    goal: 10,
    rewardName: 'Coffee',
    tier: 'Silver',
    nextTier: { name: 'Gold', missing: 200 },
    changeMessage: 'You earned a point',
    messageSequence: 3,
  },
  { ...SAMPLE, balance: 10, goal: 10, status: 'voided', expirationDate: new Date(0) },
  {
    ...SAMPLE,
    rewards: ['Coffee', 'Cake'].map((name) => ({ id: name, name, cost: 5, ready: true, missing: 0 })),
    expiring: ['10 on 1 January'],
  },
];

function formatProblems(design: PassDesign, strings: Strings): TemplateProblem[] {
  const messages = SAMPLES.flatMap((view) => composeWarnings(passJson(design, view), strings));
  return [...new Set(messages)].map((message) => problem([], message));
}

type Strings = ReturnType<typeof passStrings>;

/**
 * Returns what passkit-generator objects to in a pass.json. Synchronous, so it cannot collect warnings of other code.
 */
function composeWarnings(json: Record<string, unknown>, strings: Strings): string[] {
  const warnings: string[] = [];
  const warn = console.warn;
  console.warn = (...parts: unknown[]) => warnings.push(parts.map(String).join(' '));
  try {
    const pass = new PKPass({ 'pass.json': Buffer.from(JSON.stringify(json)) });
    for (const [language, table] of strings) pass.localize(language, Object.fromEntries(table));
    if (warnings.length === 0 && !isDeepStrictEqual(pass.props, JSON.parse(JSON.stringify(json)))) {
      warnings.push('the pass would lose or change some of its content');
    }
  } catch (error) {
    warnings.push(toError(error).message);
  } finally {
    console.warn = warn;
  }
  return warnings;
}
