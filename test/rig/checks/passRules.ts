// Apple's rules for an unpacked pass. An error: phones refuse the pass, or drop a part of it. A warning: phones show it
// otherwise than it was drawn. Sources: Apple's own tool (apple/pass-builder: validator, repairs, sizes of pictures) and
// its pages on PassFields, Pass and poster generic passes. They are written here a second time, apart from the service.

import { areas, type Face, type Field, isTime, olderStyles, type PassContent, passShape } from './passShape.js';
import { readStrings } from './passStrings.js';

export interface Finding {
  rule: string;
  severity: 'error' | 'warning';
  message: string;
}

type Files = ReadonlyMap<string, Buffer>;

interface Unpacked {
  json: PassContent;
  files: Files;
}
type Rule = (pass: Unpacked) => Iterable<string>;

const styles = [...olderStyles, 'posterGeneric'] as const;
const facesOf = (json: PassContent) =>
  styles.flatMap((style) => (json[style] === undefined ? [] : [[style, json[style]] as const]));
const fieldsOf = (face: Face) => areas.flatMap((area) => (face[area] ?? []).map((field) => ({ area, field })));
const allFields = (json: PassContent) =>
  facesOf(json).flatMap(([style, face]) => fieldsOf(face).map((at) => ({ style, ...at })));

/** How many fields Wallet shows; of more it drops the rest. Rows are filled by secondary and auxiliary fields. */
const room = {
  older: { headerFields: 3, primaryFields: 1, rows: 4, footerFields: 0 },
  poster: { headerFields: 1, primaryFields: 4, rows: 0, footerFields: 1 },
};

const digits = /^\d+$/;
/** What each format can hold; the others hold any text. */
const holds: Record<string, (code: string) => boolean> = {
  PKBarcodeFormatCode128: (code) => /^[ -~]+$/.test(code),
  PKBarcodeFormatCode39: (code) => /^[0-9A-Z $%*+./-]+$/.test(code),
  PKBarcodeFormatCodabar: (code) => /^[0-9$+./:-]+$/.test(code),
  PKBarcodeFormatEAN13: (code) =>
    code.length === 13 &&
    digits.test(code) &&
    Array.from(code).reduce((sum, digit, index) => sum + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0,
  PKBarcodeFormatI2of5: (code) => digits.test(code) && code.length % 2 === 0,
};
/** Systems before iOS 27, and for Code 128 watches, take the next one. */
const needsQrBehind = new Set(Object.keys(holds));
const encodes: Record<string, (code: string) => boolean> = {
  'iso-8859-1': (code) => Array.from(code).every((letter) => letter <= '\xff'),
  'utf-8': () => true,
};

/** In points. `exact`: filled and cropped; others are shown whole, up to this size. */
const slots: Record<string, { width: number; height: number; exact: boolean }> = {
  icon: { width: 38, height: 38, exact: true },
  logo: { width: 160, height: 50, exact: false },
  primaryLogo: { width: 126, height: 30, exact: false },
  secondaryLogo: { width: 135, height: 12, exact: false },
  strip: { width: 375, height: 144, exact: true },
  thumbnail: { width: 90, height: 90, exact: true },
  background: { width: 345, height: 505, exact: true },
  artwork: { width: 358, height: 448, exact: true },
  footer: { width: 286, height: 15, exact: false },
};

const imageName = /^(?:[\w-]+\.lproj\/)?(?<slot>\w+?)(?:@(?<scale>[23])x)?\.(?<kind>png|pdf)$/;
interface Image {
  name: string;
  slot: string;
  scale: number;
  bytes: Buffer;
  kind: string;
}
const imagesOf = (files: Files): Image[] =>
  [...files].flatMap(([name, bytes]) => {
    const { slot = '', scale = '1', kind = '' } = imageName.exec(name)?.groups ?? {};
    return slot in slots ? [{ name, slot, scale: Number(scale), bytes, kind }] : [];
  });

/** In pixels of a PNG, in points of a PDF; undefined for neither. */
function sizeOf({ bytes, kind }: Image): { width: number; height: number } | undefined {
  if (kind === 'png') {
    if (bytes.toString('latin1', 1, 8) !== 'PNG\r\n\x1a\n' || bytes.length < 24) return undefined;
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  const box = /^%PDF-[\s\S]*?\/MediaBox\s*\[\s*([\d.-]+)\s+([\d.-]+)\s+([\d.-]+)\s+([\d.-]+)\s*\]/.exec(
    bytes.toString('latin1'),
  );
  const [left = 0, bottom = 0, right = 0, top = 0] = (box?.slice(1) ?? []).map(Number);
  return box === null ? undefined : { width: right - left, height: top - bottom };
}

function* textsWithin(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'string') yield [path, value];
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* textsWithin(inner, `${path}.${key}`.replace(/^\./, ''));
}

function* mistakesOf({ value, numberStyle, currencyCode, dateStyle, timeStyle, ignoresTimeZone, isRelative }: Field) {
  if (currencyCode !== undefined && numberStyle !== undefined) yield 'has a currency and a style of numbers';
  if ((numberStyle ?? currencyCode) !== undefined && typeof value !== 'number') yield 'formats a text as a number';
  const asTime = dateStyle ?? timeStyle ?? ignoresTimeZone ?? isRelative;
  if (asTime !== undefined && !isTime(value)) yield 'formats as a time what is none';
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

const errors = {
  *style({ json, files }) {
    const older = olderStyles.filter((style) => json[style] !== undefined);
    if (older.length !== 1) yield `has ${older.length} styles that every system shows, not one`;
    const artwork = imagesOf(files).some(({ slot }) => slot === 'artwork');
    if (json.posterGeneric !== undefined && !artwork) yield 'is a poster without artwork';
  },
  *keys({ json }) {
    for (const [style, face] of facesOf(json)) {
      const keys = fieldsOf(face).map(({ field }) => field.key);
      for (const key of new Set(keys.filter((one, index) => keys.indexOf(one) !== index)))
        yield `${style} has two fields with the key ${key}`;
    }
  },
  *room({ json }) {
    for (const [style, face] of facesOf(json)) {
      const shown = room[style === 'posterGeneric' ? 'poster' : 'older'];
      const count = (...of: (keyof Face)[]) => of.reduce((sum, area) => sum + (face[area]?.length ?? 0), 0);
      const given = {
        headerFields: count('headerFields'),
        primaryFields: count('primaryFields'),
        rows: count('secondaryFields', 'auxiliaryFields'),
        footerFields: count('footerFields'),
      };
      for (const area of Object.keys(given) as (keyof typeof given)[])
        if (given[area] > shown[area]) yield `${style} has ${given[area]} ${area}, and ${shown[area]} are shown`;
    }
  },
  *formatting({ json }) {
    for (const { style, area, field } of allFields(json)) {
      for (const mistake of mistakesOf(field)) yield `${style}.${area}.${field.key} ${mistake}`;
      if (field.textAlignment !== undefined && (area === 'primaryFields' || area === 'backFields'))
        yield `${style}.${area}.${field.key} cannot be aligned`;
    }
  },
  *barcodes({ json: { barcodes = [] } }) {
    for (const [index, { format, message, messageEncoding }] of barcodes.entries()) {
      if (!(encodes[messageEncoding.toLowerCase()]?.(message) ?? false))
        yield `${messageEncoding} cannot write ${message}`;
      if (!(holds[format]?.(message) ?? true)) yield `${format} cannot hold ${message}`;
      const isBehind = barcodes.slice(index + 1).some((next) => next.format === 'PKBarcodeFormatQR');
      if (needsQrBehind.has(format) && !isBehind) yield `${format} has no QR code behind it`;
    }
  },
  *actions({ json: { featuredActions = [] } }) {
    const names = new Set(featuredActions.map(({ identifier }) => identifier));
    if (names.size < featuredActions.length) yield 'two actions have the same identifier';
  },
  *relevance({ json: { relevantDates = [] } }) {
    for (const { date, startDate, endDate } of relevantDates) {
      if ((date === undefined) === (startDate === undefined)) yield 'a relevant date is either a time or an interval';
      if ((startDate === undefined) !== (endDate === undefined)) yield 'a relevant interval has a start and an end';
      if (startDate && endDate && Date.parse(startDate) >= Date.parse(endDate))
        yield 'a relevant interval ends before it starts';
    }
  },
  *webService({ json }) {
    if ((json.webServiceURL === undefined) !== (json.authenticationToken === undefined))
      yield 'a web service needs a token, and a token a web service';
    if (json.appLaunchURL !== undefined && json.associatedStoreIdentifiers === undefined)
      yield 'appLaunchURL needs associatedStoreIdentifiers';
  },
  *texts({ json }) {
    for (const [path, text] of textsWithin(json, ''))
      if (!text.isWellFormed() || /(?![\t\n])\p{Cc}/u.test(text)) yield `${path} has characters that are no text`;
  },
  *icon({ files }) {
    if (!imagesOf(files).some(({ name, slot }) => slot === 'icon' && !name.includes('/'))) yield 'has no icon';
  },
  *pictures({ files }) {
    for (const image of imagesOf(files)) {
      if (sizeOf(image) === undefined) yield `${image.name} is no ${image.kind.toUpperCase()}`;
      // Which systems take a PDF is not said; all take PNGs.
      const behind = [2, 3].every((scale) => files.has(image.name.replace(/\.pdf$/, `@${scale}x.png`)));
      if (image.kind === 'pdf' && !behind) yield `${image.name} has no PNGs behind it`;
    }
  },
  *files({ files }) {
    const known = new Set(imagesOf(files).map(({ name }) => name));
    for (const name of files.keys())
      if (!known.has(name) && !/^(?:pass\.json|manifest\.json|signature|[\w-]+\.lproj\/pass\.strings)$/.test(name))
        yield `${name} is no file of a pass`;
  },
  *strings({ files }) {
    for (const [name, bytes] of files) {
      if (!name.includes('.lproj/')) continue;
      const [language = ''] = name.split('.lproj/');
      if (!isReadable(() => new Intl.Locale(language))) yield `${language} is no language`;
      if (name.endsWith('.strings') && !isReadable(() => readStrings(bytes))) yield `${name} is no list of texts`;
    }
  },
} satisfies Record<string, Rule>;

const warnings = {
  *iconScales({ files }) {
    const icons = imagesOf(files).filter(({ slot }) => slot === 'icon');
    for (const scale of [2, 3])
      if (icons.length > 0 && !icons.some((icon) => icon.scale === scale || icon.kind === 'pdf'))
        yield `icon@${scale}x is missing`;
  },
  *sizes({ files }) {
    for (const image of imagesOf(files)) {
      const [slot, size] = [slots[image.slot], sizeOf(image)];
      if (!slot || !size) continue;
      const scale = image.kind === 'pdf' ? 1 : image.scale;
      const [width, height] = [slot.width * scale, slot.height * scale];
      const isRight = slot.exact
        ? size.width === width && size.height === height
        : size.width <= width && size.height <= height;
      if (!isRight) yield `${image.name} is ${size.width} x ${size.height}, and its place ${width} x ${height}`;
    }
  },
} satisfies Record<string, Rule>;

export const passRules = ['shape', ...Object.keys(errors), ...Object.keys(warnings)];

/** Empty for a pass that every phone shows as it was drawn. The content is only looked at when its shape is right. */
export function passFindings({ json, files }: { json: unknown; files: Files }): Finding[] {
  const shape = passShape.safeParse(json);
  if (!shape.success)
    return shape.error.issues.map(({ path, message }) => ({
      ...{ rule: 'shape', severity: 'error' },
      message: `${path.join('.')}: ${message}`,
    }));
  const pass = { json: shape.data, files };
  const found = (rules: Record<string, Rule>, severity: Finding['severity']) =>
    Object.entries(rules).flatMap(([rule, look]) => Array.from(look(pass), (message) => ({ rule, severity, message })));
  return [...found(errors, 'error'), ...found(warnings, 'warning')];
}
