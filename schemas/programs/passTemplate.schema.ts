// A program's `passTemplate`. An empty or missing template gives a presentable pass. A template that a phone would not
// show (a missing, broken or oversized image, a duplicate key) is refused with the path of the error, before a pass is
// built from it.
import { z } from 'zod';
import { momentText } from '../shared/calendar.rules.js';
import { didYouMean, isLanguage } from '../shared/languages/codes.rules.js';
import { nameText, prose, trimmedText } from '../shared/text.js';
import { barcodeFormats, memberCodeProblem } from './barcodes.rules.js';
import { links } from './links.schema.js';
import { openingHours } from './openingHours.schema.js';
import { readPdf } from './pdf.rules.js';
import { readPng } from './png.rules.js';

export const MAX_IMAGE_BYTES = 512 * 1024;
const MAX_IMAGE_PIXELS = 2048;
const MIN_ICON_PIXELS = 29;
/** Apple accepts at most ten locations in a pass. */
const MAX_LOCATIONS = 10;

const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function bytesProblem(base64: string): string | undefined {
  if (base64 === '') return 'is missing';
  if (!base64Form.test(base64)) return 'is not base64';
  const { length } = Buffer.from(base64, 'base64');
  return length > MAX_IMAGE_BYTES ? `is ${length} bytes, more than ${MAX_IMAGE_BYTES}` : undefined;
}

function pdfProblem(base64: string): string | undefined {
  const problem = bytesProblem(base64);
  const pdf = readPdf(Buffer.from(problem === undefined ? base64 : '', 'base64'));
  return problem ?? (pdf.ok ? undefined : pdf.problem);
}

function imageProblem(base64: string, isIcon: boolean): string | undefined {
  const problem = bytesProblem(base64);
  if (problem !== undefined) return problem;
  const png = readPng(Buffer.from(base64, 'base64'));
  if (!png.ok) return png.problem;
  const size = `${png.width} x ${png.height} pixels`;
  if (Math.max(png.width, png.height) > MAX_IMAGE_PIXELS) return `is ${size}, more than ${MAX_IMAGE_PIXELS} a side`;
  if (isIcon && png.width !== png.height) return `is ${size}, and an icon is square`;
  if (isIcon && png.width < MIN_ICON_PIXELS) return `is ${size}, and an icon has at least ${MIN_ICON_PIXELS} a side`;
  return undefined;
}

const bareBase64 = (text: string) => text.trim().replace(/^data:(?:image\/png|application\/pdf);base64,/, '');
const base64 = z.string().transform(bareBase64);

/**
 * One PNG for the sharpest screens, from which those of the others are made, or PNGs for each, in base64 or as a
 * `data:` URL; stored as plain base64. A PDF stands beside its PNGs, for the systems that take one. An object of icons
 * needs all three scales: Wallet shows no pass without the icon for its screen.
 */
const picture = (isIcon: boolean) =>
  z
    .union(
      [
        base64.meta({ minLength: 1 }),
        z
          .strictObject({ '1x': base64, '2x': base64, '3x': base64, pdf: base64 })
          .partial()
          .meta(isIcon ? { required: ['1x', '2x', '3x'] } : { minProperties: 1 }),
      ],
      { error: 'give a PNG in base64, or an object with one for 1x, 2x and 3x' },
    )
    .superRefine((given, context) => {
      const refuse = (problem: string | undefined, path: string[]) => {
        if (problem !== undefined) context.addIssue({ code: 'custom', message: `the image ${problem}`, path });
      };
      if (typeof given === 'string') return refuse(imageProblem(given, isIcon), []);
      const { pdf, ...scales } = given;
      if (pdf !== undefined) refuse(pdfProblem(pdf), ['pdf']);
      const behindPdf = pdf === undefined ? [] : ['3x'];
      const needed =
        isIcon || Object.keys(given).length === 0 ? ['1x', '2x', '3x'] : [...Object.keys(scales), ...behindPdf];
      for (const scale of ['1x', '2x', '3x'] as const) {
        if (needed.includes(scale)) refuse(imageProblem(given[scale] ?? '', isIcon), [scale]);
      }
    });

export const icon = picture(true);
export const image = picture(false);

const color = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'a colour is written #rrggbb')
  .transform((hex) => hex.toLowerCase());

export const backField = z.strictObject({ key: trimmedText(1, 64), label: nameText(64), value: prose(4000) });

export const location = z.strictObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  relevantText: trimmedText(1, 200).optional(),
});

export const barcodeFormat = z.enum(barcodeFormats);

const languageCode = z
  .string()
  .regex(/^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/, {
    error: ({ input }) => `a language is written en, de or zh-Hans${didYouMean(input)}`,
    abort: true,
  })
  .refine(isLanguage, { error: ({ input }) => `must be the code of a language${didYouMean(input)}` });
const strings = z
  .record(trimmedText(1, 200), prose(1000))
  .refine((entries) => Object.keys(entries).length > 0, 'give at least one string')
  // The driver takes an object with `_bsontype`, or with `$ref` and `$id`, for a value of a type of its own.
  .refine((entries) => !['_bsontype', '$ref'].some((text) => text in entries), 'must not translate _bsontype or $ref')
  .meta({ minProperties: 1 });

/**
 * `locales` maps a language to translations: each maps a text of the merchant or a label of the service, in the
 * program's language, to its translation.
 */
export const passTemplate = z
  .strictObject({
    colors: z
      .strictObject({
        background: color.default('#14532d'),
        foreground: color.default('#ffffff'),
        label: color.default('#bbf7d0'),
      })
      .prefault({}),
    barcode: z.enum(['memberCode', 'externalId']).optional(),
    barcodeFormat: barcodeFormat
      .optional()
      .describe('default QR; a code that the format cannot hold is shown as QR, and refused as a new externalId'),
    organizationName: nameText(100).optional(),
    description: trimmedText(1, 200).optional(),
    logoText: nameText(40, 0).optional(),
    images: z
      .strictObject({
        icon: icon.optional(),
        logo: image.optional(),
        strip: image.optional(),
        artwork: image.optional().describe('the picture of a poster'),
        primaryLogo: image.optional().describe('the logo on a poster'),
      })
      .prefault({}),
    backFields: z
      .array(backField)
      .max(20)
      .superRefine((fields, context) => {
        for (const [index, { key }] of fields.entries()) {
          if (fields.findIndex((other) => other.key === key) === index) continue;
          context.addIssue({ code: 'custom', message: `the key ${key} is taken`, path: [index, 'key'], input: key });
        }
      })
      .default([]),
    locations: z.array(location).max(MAX_LOCATIONS).default([]),
    openingHours: openingHours.optional(),
    links: links.optional(),
    poster: z
      .boolean()
      .optional()
      .describe('iPhones with iOS 27 show the card as a poster with `images.artwork`; others show it as before'),
    locales: z.record(languageCode, strings).default({}),
    expirationDate: momentText.optional(),
  })
  .superRefine((template, context) => {
    const message = memberCodeProblem(template);
    if (message !== undefined) context.addIssue({ code: 'custom', message, path: ['barcodeFormat'] });
    if (template.poster && template.images.artwork === undefined)
      context.addIssue({ code: 'custom', message: 'is required for a poster', path: ['images', 'artwork'] });
  })
  .prefault({});

/** The picture with the most pixels, in base64. */
export function largestOf(picture: PassTemplate['images']['logo']): string | undefined {
  return typeof picture === 'object' ? (picture['3x'] ?? picture['2x'] ?? picture['1x']) : picture;
}

export type PassTemplate = z.infer<typeof passTemplate>;
export type PassTemplateInput = z.input<typeof passTemplate>;
