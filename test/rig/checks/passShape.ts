// The shape of pass.json, from Apple's own tool (apple/pass-builder): the keys that a loyalty card may have, and the form
// of each value. What depends on more than one value is in passRules.ts.
import { z } from 'zod';

const some = z.string().min(1);
const address = (form: RegExp) => some.regex(form).refine((url) => URL.canParse(url), 'must be an address');
const https = address(/^https:\/\//);

/** W3C's form of a time: with a time zone, with or without seconds. */
export const isTime = (value: unknown): boolean =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(value) &&
  !Number.isNaN(Date.parse(value));
const time = z.string().refine(isTime, 'must be a time with its zone');

/** `rgb(0, 0, 0)` to `rgb(255, 255, 255)`. */
const color = z
  .string()
  .regex(/^rgb\(\d{1,3}, ?\d{1,3}, ?\d{1,3}\)$/)
  .refine((text) => (text.match(/\d+/g) ?? []).every((channel) => Number(channel) <= 255), 'has channels above 255');

const style = z.enum(['None', 'Short', 'Medium', 'Long', 'Full'].map((name) => `PKDateStyle${name}`));
const field = z.strictObject({
  key: some,
  label: z.string().optional(),
  value: z.union([z.string(), z.number()]),
  attributedValue: z.string().optional(),
  changeMessage: z.string().includes('%@').optional(),
  dataDetectorTypes: z.array(z.string()).optional(),
  textAlignment: z.enum(['Left', 'Center', 'Right', 'Natural'].map((name) => `PKTextAlignment${name}`)).optional(),
  dateStyle: style.optional(),
  timeStyle: style.optional(),
  ignoresTimeZone: z.boolean().optional(),
  isRelative: z.boolean().optional(),
  numberStyle: z
    .enum(['Decimal', 'Percent', 'Scientific', 'SpellOut'].map((name) => `PKNumberStyle${name}`))
    .optional(),
  currencyCode: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .optional(),
});
export type Field = z.output<typeof field>;

export const areas = [
  ...(['headerFields', 'primaryFields', 'secondaryFields', 'auxiliaryFields'] as const),
  ...(['footerFields', 'backFields'] as const),
] as const;
const fields = z.array(field).optional();
const face = z.strictObject({
  headerFields: fields,
  primaryFields: fields,
  secondaryFields: fields,
  auxiliaryFields: fields,
  footerFields: fields,
  backFields: fields,
});
export type Face = z.output<typeof face>;

const formats = ['QR', 'PDF417', 'Aztec', 'Code128', 'Code39', 'Codabar', 'EAN13', 'I2of5'] as const;
const barcode = z.strictObject({
  format: z.enum(formats.map((name) => `PKBarcodeFormat${name}`)),
  message: some,
  messageEncoding: some,
  altText: z.string().optional(),
});

const place = z.strictObject({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  altitude: z.number().optional(),
  relevantText: some.optional(),
});
const interval = z.strictObject({ date: time.optional(), startDate: time.optional(), endDate: time.optional() });
const action = z.strictObject({ identifier: some, type: some, url: address(/^(?:https|tel|mailto):/) });

/** The styles of loyalty cards that every system knows. A poster needs one of them as well. */
export const olderStyles = ['storeCard', 'generic', 'coupon'] as const;

export const passShape = z.strictObject({
  formatVersion: z.literal(1),
  serialNumber: some,
  passTypeIdentifier: some.startsWith('pass.'),
  teamIdentifier: some,
  organizationName: some,
  description: some,
  storeCard: face.optional(),
  generic: face.optional(),
  coupon: face.optional(),
  posterGeneric: face.optional(),
  // Tests serve without TLS, on this machine only.
  webServiceURL: address(/^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost):)/).optional(),
  authenticationToken: z.string().min(16).optional(),
  barcodes: z.array(barcode).min(1).optional(),
  backgroundColor: color.optional(),
  foregroundColor: color.optional(),
  labelColor: color.optional(),
  stripColor: color.optional(),
  logoText: some.optional(),
  logoSymbolName: some.optional(),
  locations: z.array(place).min(1).max(10).optional(),
  maxDistance: z.number().positive().optional(),
  relevantDate: time.optional(),
  relevantDates: z.array(interval).min(1).optional(),
  expirationDate: time.optional(),
  voided: z.boolean().optional(),
  featuredActions: z.array(action).min(1).max(2).optional(),
  managementURL: https.optional(),
  appLaunchURL: some.optional(),
  associatedStoreIdentifiers: z.array(z.int().positive()).min(1).optional(),
  sharingProhibited: z.boolean().optional(),
  userInfo: z.unknown().optional(),
});
export type PassContent = z.output<typeof passShape>;
