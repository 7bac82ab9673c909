// What each phone shows of a card, and where: the one model from which the console and the virtual phones draw. A pass is
// read as Wallet reads it, so what Wallet drops is not drawn.

interface PassField {
  key: string;
  label?: string;
  value: string | number;
  changeMessage?: string;
}

type Area = 'headerFields' | 'primaryFields' | 'secondaryFields' | 'auxiliaryFields' | 'footerFields' | 'backFields';
type Fields = Partial<Record<Area, PassField[]>>;

export interface ApplePass {
  logoText?: string;
  organizationName?: string;
  backgroundColor?: string;
  foregroundColor?: string;
  labelColor?: string;
  voided?: boolean;
  barcodes?: { format?: string; message: string; altText?: string }[];
  storeCard: Fields;
  posterGeneric?: Fields;
  featuredActions?: { identifier: string; type: string }[];
}

/** `newer`: iOS 27, which knows posters, four more kinds of codes, and actions. */
export type System = 'newer' | 'older';

interface Code {
  format: string;
  value: string;
  caption?: string | undefined;
}

/** The texts of the front are in the order of reading. */
export interface AppleFace {
  isPoster: boolean;
  /** Next to the logo. */
  title: string;
  header: PassField[];
  primary: PassField[];
  secondary: PassField[];
  auxiliary: PassField[];
  footer: PassField[];
  back: PassField[];
  code: Code | undefined;
  /** The types of the buttons below the card, whose words are Apple's. */
  actions: string[];
}

const olderFormats = ['QR', 'PDF417', 'Aztec', 'Code128'].map((name) => `PKBarcodeFormat${name}`);
const maxActions = 2;
const room = {
  card: { headerFields: 3, primaryFields: 1, rows: 4, footerFields: 0 },
  poster: { headerFields: 1, primaryFields: 4, rows: 0, footerFields: 1 },
};

export function appleFace(pass: ApplePass, system: System): AppleFace {
  const poster = system === 'newer' ? pass.posterGeneric : undefined;
  const fields = poster ?? pass.storeCard;
  const most = room[poster ? 'poster' : 'card'];
  const first = (area: Area, count: number) => (fields[area] ?? []).slice(0, count);
  const secondary = first('secondaryFields', most.rows);
  const code = pass.barcodes?.find(({ format = '' }) => system === 'newer' || olderFormats.includes(format));
  return {
    isPoster: poster !== undefined,
    title: pass.logoText ?? '',
    header: first('headerFields', most.headerFields),
    primary: first('primaryFields', most.primaryFields),
    secondary,
    auxiliary: first('auxiliaryFields', most.rows - secondary.length),
    footer: first('footerFields', most.footerFields),
    back: fields.backFields ?? [],
    code: code && { format: code.format ?? '', value: code.message, caption: code.altText },
    actions: system === 'newer' ? (pass.featuredActions ?? []).slice(0, maxActions).map(({ type }) => type) : [],
  };
}

/** Whether older systems show the front of a pass otherwise. */
export const differsOnOlder = (pass: ApplePass): boolean =>
  JSON.stringify(appleFace(pass, 'newer')) !== JSON.stringify(appleFace(pass, 'older'));

interface Points {
  label?: string;
  balance?: { int?: number; string?: string };
}

export interface GooglePass {
  class: {
    programName?: string;
    issuerName?: string;
    hexBackgroundColor?: string;
    accountIdLabel?: string;
    accountNameLabel?: string;
    programLogo?: { sourceUri?: { uri?: string } };
    heroImage?: { sourceUri?: { uri?: string } };
    linksModuleData?: { uris?: { uri?: string; description?: string }[] };
  };
  object: {
    state?: string;
    accountName?: string;
    accountId?: string;
    barcode?: { type?: string; value?: string; alternateText?: string };
    loyaltyPoints?: Points;
    secondaryLoyaltyPoints?: Points;
    textModulesData?: { header?: string; body?: string }[];
  };
}

type Line = readonly [label: string, value: string];

export interface GoogleFace {
  issuer: string;
  title: string;
  points: Line[];
  code: Code | undefined;
  /** Behind the front, from top to bottom. */
  details: Line[];
  isActive: boolean;
}

const amount = ({ balance }: Points) => balance?.string ?? (balance?.int === undefined ? '' : String(balance.int));

export function googleFace({ class: program, object }: GooglePass): GoogleFace {
  const { barcode, accountName, accountId } = object;
  const points = [object.loyaltyPoints, object.secondaryLoyaltyPoints].filter((one) => one !== undefined);
  return {
    issuer: program.issuerName ?? '',
    title: program.programName ?? '',
    points: points.map((one) => [one.label ?? '', amount(one)]),
    code: barcode?.value
      ? { format: barcode.type ?? '', value: barcode.value, caption: barcode.alternateText }
      : undefined,
    details: [
      ...(accountName === undefined ? [] : [[program.accountNameLabel ?? '', accountName] as const]),
      ...(accountId === undefined ? [] : [[program.accountIdLabel ?? '', accountId] as const]),
      ...(object.textModulesData ?? []).map(({ header = '', body = '' }) => [header, body] as const),
      ...(program.linksModuleData?.uris ?? []).map(({ description = '', uri = '' }) => [description, uri] as const),
    ],
    isActive: object.state === 'ACTIVE',
  };
}
