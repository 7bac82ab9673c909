// Each of Apple's rules finds its mistake in a pass that is otherwise right.
import { expect, it } from 'vitest';
import { type Finding, passFindings, passRules } from '../../rig/checks/passRules.js';

/** The head of a PNG: as much as a size needs. */
function png(width: number, height = width): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}
const pdf = (width: number, height: number) => Buffer.from(`%PDF-1.4\n<< /MediaBox [0 0 ${width} ${height}] >>`);
const strings = (text: string) => ({ 'de.lproj/pass.strings': Buffer.from(text) });

const qr = { format: 'PKBarcodeFormatQR', message: '7K3M9PXQ2A', messageEncoding: 'iso-8859-1' };
const codeOf = (format: string, message: string, behind: object[] = [qr]) => ({
  barcodes: [{ ...qr, format: `PKBarcodeFormat${format}`, message }, ...behind],
});
const field = { key: 'balance', label: 'POINTS', value: 40 };
const text = { key: 'member', label: 'MEMBER', value: 'Ada' };
const fields = (count: number) => Array.from({ length: count }, (_, index) => ({ ...field, key: `field-${index}` }));
const card = { headerFields: [field], primaryFields: [text], secondaryFields: [], auxiliaryFields: [], backFields: [] };
const place = { latitude: 51.5, longitude: -0.12, relevantText: 'Come in' };
const action = { identifier: 'order', type: 'order', url: 'https://example.com/order' };

const json = {
  formatVersion: 1,
  passTypeIdentifier: 'pass.com.example.loyalty',
  teamIdentifier: 'TEAM123456',
  organizationName: 'Example',
  description: 'A card',
  serialNumber: '7a1c6e0a',
  authenticationToken: 'a-token-of-enough-length',
  webServiceURL: 'https://passes.example.com/wallet/apple',
  backgroundColor: 'rgb(16, 32, 48)',
  barcodes: [qr],
  storeCard: card,
  locations: [place],
  featuredActions: [action],
  expirationDate: '2030-06-01T10:00:00.000Z',
};
const behind = (slot: string) => ({ [`${slot}@2x.png`]: png(20), [`${slot}@3x.png`]: png(30) });
const icons = { 'icon.png': png(38), 'icon@2x.png': png(76), 'icon@3x.png': png(114) };

interface Change {
  json?: Record<string, unknown>;
  /** undefined: without the file. */
  files?: Record<string, Buffer | undefined>;
}
const found = ({ json: keys, files }: Change): Finding[] =>
  passFindings({
    json: JSON.parse(JSON.stringify({ ...json, ...keys })),
    files: new Map(
      Object.entries({ ...icons, ...files }).flatMap(([name, bytes]) => (bytes === undefined ? [] : [[name, bytes]])),
    ),
  });
const store = (more: object) => ({ json: { storeCard: { ...card, ...more } } });
const poster = (more: object, files: Change['files'] = { 'artwork.png': png(358, 448) }): Change => ({
  json: { posterGeneric: { headerFields: [field], primaryFields: [text], ...more } },
  files,
});

const right: [string, Change][] = [
  ['a store card', {}],
  ['a generic pass instead', { json: { storeCard: undefined, generic: card } }],
  ['a poster with the store card', poster({ footerFields: [{ ...field, key: 'foot' }] })],
  ['a code of iOS 27 before a QR code', { json: codeOf('EAN13', '4006381333931') }],
  ['every other format with what it holds', { json: codeOf('Code39', 'A-1', [...codeOf('I2of5', '1234').barcodes]) }],
  ['a message in UTF-8', { json: { barcodes: [{ ...qr, message: 'карта', messageEncoding: 'utf-8' }] } }],
  [
    'opening hours',
    { json: { relevantDates: [{ startDate: '2026-11-26T09:00Z', endDate: '2026-11-26T17:00+01:00' }] } },
  ],
  ['an icon as a PDF, too', { files: { 'icon.pdf': pdf(38, 38) } }],
  ['a small logo', { files: { 'logo.png': png(80, 20) } }],
  ['translations', { files: strings('"A \\"b\\"" = "C\\n";\n"B" = "D";\n') }],
  [
    'a formatted time',
    store({ backFields: [{ key: 'at', value: '2026-11-21T10:00:00Z', dateStyle: 'PKDateStyleMedium' }] }),
  ],
];
it.each(right)('%s is right', (_, change) => expect(found(change)).toEqual([]));

const wrong: [rule: string, what: string, change: Change, message: string][] = [
  ['shape', 'an unknown key', { json: { logotext: 'A' } }, ': '],
  ['shape', 'a missing name', { json: { description: '' } }, 'description: '],
  ['shape', 'eleven places', { json: { locations: Array(11).fill(place) } }, 'locations: '],
  [
    'shape',
    'three actions',
    { json: { featuredActions: ['a', 'b', 'c'].map((identifier) => ({ ...action, identifier })) } },
    'featuredActions: ',
  ],
  [
    'shape',
    'a day as a time',
    { json: { expirationDate: '2030-06-01' } },
    'expirationDate: must be a time with its zone',
  ],
  ['shape', 'a colour that is none', { json: { labelColor: 'rgb(0, 0, 256)' } }, 'labelColor: has channels above 255'],
  [
    'shape',
    'a message without the value',
    store({ backFields: [{ ...text, key: 'm', changeMessage: 'Hi' }] }),
    'storeCard.backFields.0.changeMessage: ',
  ],
  ['shape', 'a short token', { json: { authenticationToken: 'short' } }, 'authenticationToken: '],
  [
    'style',
    'only a poster',
    { ...poster({}), json: { ...poster({}).json, storeCard: undefined } },
    'has 0 styles that every system shows, not one',
  ],
  ['style', 'two styles', { json: { generic: card } }, 'has 2 styles that every system shows, not one'],
  ['style', 'a poster without its picture', poster({}, {}), 'is a poster without artwork'],
  ['keys', 'a key twice', store({ backFields: [text] }), 'storeCard has two fields with the key member'],
  [
    'room',
    'five fields in the rows',
    store({ secondaryFields: fields(3), auxiliaryFields: fields(5).slice(3) }),
    'storeCard has 5 rows, and 4 are shown',
  ],
  ['room', 'two large fields', store({ primaryFields: fields(2) }), 'storeCard has 2 primaryFields, and 1 are shown'],
  [
    'room',
    'two fields at the head of a poster',
    poster({ headerFields: fields(2) }),
    'posterGeneric has 2 headerFields, and 1 are shown',
  ],
  [
    'room',
    'five fields in a poster',
    poster({ primaryFields: fields(5) }),
    'posterGeneric has 5 primaryFields, and 4 are shown',
  ],
  [
    'room',
    'two fields at the foot of a poster',
    poster({ footerFields: fields(2) }),
    'posterGeneric has 2 footerFields, and 1 are shown',
  ],
  [
    'formatting',
    'a currency with a style',
    store({ primaryFields: [{ ...text, value: 1, currencyCode: 'EUR', numberStyle: 'PKNumberStyleDecimal' }] }),
    'storeCard.primaryFields.member has a currency and a style of numbers',
  ],
  [
    'formatting',
    'a text as a number',
    store({ primaryFields: [{ ...text, numberStyle: 'PKNumberStyleDecimal' }] }),
    'storeCard.primaryFields.member formats a text as a number',
  ],
  [
    'formatting',
    'a text as a time',
    store({ primaryFields: [{ ...text, timeStyle: 'PKDateStyleShort' }] }),
    'storeCard.primaryFields.member formats as a time what is none',
  ],
  [
    'formatting',
    'an aligned large field',
    store({ primaryFields: [{ ...text, textAlignment: 'PKTextAlignmentLeft' }] }),
    'storeCard.primaryFields.member cannot be aligned',
  ],
  [
    'barcodes',
    'letters that the encoding lacks',
    { json: { barcodes: [{ ...qr, message: 'карта' }] } },
    'iso-8859-1 cannot write карта',
  ],
  [
    'barcodes',
    'a wrong check digit',
    { json: codeOf('EAN13', '4006381333932') },
    'PKBarcodeFormatEAN13 cannot hold 4006381333932',
  ],
  ['barcodes', 'small letters in Code 39', { json: codeOf('Code39', 'abc') }, 'PKBarcodeFormatCode39 cannot hold abc'],
  ['barcodes', 'an odd number of digits', { json: codeOf('I2of5', '123') }, 'PKBarcodeFormatI2of5 cannot hold 123'],
  ['barcodes', 'letters in Codabar', { json: codeOf('Codabar', '12X') }, 'PKBarcodeFormatCodabar cannot hold 12X'],
  ['barcodes', 'accents in Code 128', { json: codeOf('Code128', 'é') }, 'PKBarcodeFormatCode128 cannot hold é'],
  [
    'barcodes',
    'no QR code behind',
    { json: codeOf('EAN13', '4006381333931', []) },
    'PKBarcodeFormatEAN13 has no QR code behind it',
  ],
  ['actions', 'a name twice', { json: { featuredActions: [action, action] } }, 'two actions have the same identifier'],
  [
    'relevance',
    'a time and an interval',
    {
      json: {
        relevantDates: [{ date: '2026-11-26T09:00Z', startDate: '2026-11-26T09:00Z', endDate: '2026-11-26T10:00Z' }],
      },
    },
    'a relevant date is either a time or an interval',
  ],
  [
    'relevance',
    'an interval without an end',
    { json: { relevantDates: [{ startDate: '2026-11-26T09:00Z' }] } },
    'a relevant interval has a start and an end',
  ],
  [
    'relevance',
    'an interval backwards',
    { json: { relevantDates: [{ startDate: '2026-11-26T09:00Z', endDate: '2026-11-26T08:00Z' }] } },
    'a relevant interval ends before it starts',
  ],
  [
    'webService',
    'an address without a token',
    { json: { authenticationToken: undefined } },
    'a web service needs a token, and a token a web service',
  ],
  [
    'webService',
    'an app without its number',
    { json: { appLaunchURL: 'example://' } },
    'appLaunchURL needs associatedStoreIdentifiers',
  ],
  [
    'texts',
    'a control character',
    { json: { organizationName: 'a\u0007b' } },
    'organizationName has characters that are no text',
  ],
  ['texts', 'half a character', { json: { logoText: 'a\ud800' } }, 'logoText has characters that are no text'],
  [
    'icon',
    'no icon',
    { files: { 'icon.png': undefined, 'icon@2x.png': undefined, 'icon@3x.png': undefined } },
    'has no icon',
  ],
  ['pictures', 'a JPEG', { files: { 'logo.png': Buffer.from('ffd8ffe000104a464946', 'hex') } }, 'logo.png is no PNG'],
  [
    'pictures',
    'a PDF without a page',
    { files: { ...behind('logo'), 'logo.pdf': Buffer.from('%PDF-1.4') } },
    'logo.pdf is no PDF',
  ],
  [
    'pictures',
    'a PDF alone',
    { files: { 'logo.pdf': pdf(80, 20), 'logo@3x.png': png(240, 60) } },
    'logo.pdf has no PNGs behind it',
  ],
  ['files', 'another file', { files: { 'Icon.png': png(38) } }, 'Icon.png is no file of a pass'],
  [
    'strings',
    'a language that is none',
    { files: { 'english_GB.lproj/pass.strings': Buffer.from('"A" = "B";') } },
    'english_GB is no language',
  ],
  ['strings', 'an open quote', { files: strings('"A" = "B;\n') }, 'de.lproj/pass.strings is no list of texts'],
  ['iconScales', 'an icon of one scale', { files: { 'icon@3x.png': undefined } }, 'icon@3x is missing'],
  ['sizes', 'a small icon', { files: { 'icon@2x.png': png(58) } }, 'icon@2x.png is 58 x 58, and its place 76 x 76'],
  ['sizes', 'a wide logo', { files: { 'logo.png': png(161, 50) } }, 'logo.png is 161 x 50, and its place 160 x 50'],
  [
    'sizes',
    'a large PDF',
    { files: { ...behind('primaryLogo'), 'primaryLogo.pdf': pdf(378, 90) } },
    'primaryLogo.pdf is 378 x 90, and its place 126 x 30',
  ],
];
it.each(wrong)('%s: %s is found', (rule, _, change, message) => {
  const severity = rule === 'iconScales' || rule === 'sizes' ? 'warning' : 'error';
  // How zod says a mistake depends on other tests of this process.
  expect(found(change)).toEqual([{ rule, severity, message: expect.stringContaining(message) }]);
});

it('every rule has a pass that breaks it', () => {
  expect([...new Set(wrong.map(([rule]) => rule))].toSorted()).toEqual(passRules.toSorted());
});
