// What one member's pass says. Serial number and authentication token never change over a pass's life; everything else
// follows from the template and the face, so that equal faces give equal pass.json bytes.
import type { PassTemplate } from '../../schemas/passTemplate.js';
import { rgb } from './drawing.js';

/** The part of a program that its passes are made of. */
export interface PassProgram {
  name: string;
  style: 'points' | 'stamps' | 'tiered';
  goal?: number | undefined;
}

export interface PassFace {
  /** UUID; stays for the pass's life. */
  serialNumber: string;
  /** At least 16 characters; stays for the pass's life. */
  authenticationToken: string;
  memberCode: string;
  displayName?: string | undefined;
  /** The program's unit, e.g. POINTS. */
  label: string;
  balance: number;
  goal?: number | undefined;
  tier?: string | undefined;
  /** `missing`: how much the member lacks for it. */
  nextTier?: { name: string; missing: number } | undefined;
  status: 'active' | 'voided' | 'expired';
  /** The newest message to the member. Kept on the back; shown on the lock screen when it or its sequence is new. */
  changeMessage?: string | undefined;
  /** Differs for each message of a pass, so that a repeated text still counts as new; 0 leaves the text bare. */
  messageSequence: number;
  /** Without the `/v1` that the phone adds. */
  webServiceURL: string;
  updatedAt: Date;
  /** Wins over the template's. */
  expirationDate?: Date | undefined;
}

export interface PassField {
  key: string;
  label: string;
  value: string | number;
  changeMessage?: string;
  numberStyle?: 'PKNumberStyleDecimal';
  dateStyle?: 'PKDateStyleMedium';
  timeStyle?: 'PKDateStyleShort';
}

export interface StoreCard {
  headerFields: PassField[];
  primaryFields: PassField[];
  secondaryFields: PassField[];
  auxiliaryFields: PassField[];
  backFields: PassField[];
}

/** What all passes of a template have in common. */
export interface PassDesign {
  style: PassProgram['style'];
  common: Record<string, unknown>;
  backFields: readonly PassField[];
  expirationDate: string | undefined;
}

export function passDesign(
  identity: { passTypeId: string; teamId: string },
  program: PassProgram,
  template: PassTemplate,
): PassDesign {
  const color = (hex: string) => `rgb(${rgb(hex).join(', ')})`;
  return {
    style: program.style,
    common: {
      formatVersion: 1,
      passTypeIdentifier: identity.passTypeId,
      teamIdentifier: identity.teamId,
      organizationName: template.organizationName ?? program.name,
      description: template.description ?? `${program.name} loyalty card`,
      // Apple takes no empty text here: a template that wants none gets no key.
      ...(template.logoText !== '' && { logoText: template.logoText ?? program.name }),
      backgroundColor: color(template.colors.background),
      foregroundColor: color(template.colors.foreground),
      labelColor: color(template.colors.label),
      ...(template.locations.length > 0 && { locations: template.locations }),
    },
    // Prefixed, so that no template can shadow a field of ours: all fields of a pass share one pool of keys.
    backFields: template.backFields.map(({ key, label, value }) => ({ key: `back-${key}`, label, value })),
    expirationDate: template.expirationDate,
  };
}

/** The content of pass.json. */
export function passJson(design: PassDesign, face: PassFace): Record<string, unknown> {
  const expiration = face.expirationDate ?? (design.expirationDate && new Date(design.expirationDate));
  return {
    ...design.common,
    serialNumber: face.serialNumber,
    authenticationToken: face.authenticationToken,
    webServiceURL: face.webServiceURL,
    barcodes: [
      {
        format: 'PKBarcodeFormatQR',
        message: face.memberCode,
        altText: face.memberCode,
        messageEncoding: 'iso-8859-1',
      },
    ],
    ...(face.status !== 'active' && { voided: true }),
    ...(expiration && { expirationDate: expiration.toISOString() }),
    storeCard: storeCard(design, face),
  };
}

const text = (key: string, label: string, value: string): PassField => ({ key, label, value });
const number = (key: string, label: string, value: number): PassField => ({
  key,
  label,
  value,
  numberStyle: 'PKNumberStyleDecimal',
});

function storeCard(design: PassDesign, face: PassFace): StoreCard {
  return {
    headerFields: [number('balance', face.label, face.balance)],
    ...frontFields(design.style, face),
    backFields: [
      message(face),
      text('backMemberCode', 'Member ID', face.memberCode),
      {
        ...text('updatedAt', 'Updated', face.updatedAt.toISOString()),
        dateStyle: 'PKDateStyleMedium',
        timeStyle: 'PKDateStyleShort',
      },
      ...design.backFields,
    ],
  };
}

function frontFields(style: PassProgram['style'], face: PassFace): Omit<StoreCard, 'headerFields' | 'backFields'> {
  const member = face.displayName ? [text('member', 'MEMBER', face.displayName)] : [];
  const reward = rewardFields(face);
  const auxiliaryFields = [
    text('memberCode', 'MEMBER ID', face.memberCode),
    ...(face.status === 'active' ? [] : [text('status', 'STATUS', face.status === 'voided' ? 'Voided' : 'Expired')]),
  ];
  if (style === 'stamps') {
    // A primary field would lie across the stamps of the strip.
    return { primaryFields: [], secondaryFields: [...reward, ...member], auxiliaryFields };
  }
  if (style === 'tiered') {
    const tier = face.tier ? [text('tier', 'TIER', face.tier)] : [];
    return {
      primaryFields: tier,
      secondaryFields: [...nextTierFields(face), ...reward],
      auxiliaryFields: [...member, ...auxiliaryFields],
    };
  }
  return {
    primaryFields: reward.length > 0 ? reward : member,
    secondaryFields: reward.length > 0 ? member : [],
    auxiliaryFields,
  };
}

function rewardFields({ goal, balance }: PassFace): PassField[] {
  if (goal === undefined) return [];
  if (balance >= goal) return [text('reward', 'REWARD', 'Ready')];
  return [number('reward', 'TO NEXT REWARD', goal - balance)];
}

function nextTierFields({ nextTier }: PassFace): PassField[] {
  if (nextTier === undefined) return [];
  return [text('nextTier', 'NEXT TIER', nextTier.name), number('toNextTier', 'TO NEXT TIER', nextTier.missing)];
}

/**
 * The lock screen shows a field's new value where its `changeMessage` asks for it, and only if the value differs from
 * the installed pass's; two such fields would collapse into "pass changed". So messages have a field of their own, the
 * only one that asks, and a repeated text is told apart by marks that no eye sees.
 */
function message({ changeMessage, messageSequence }: PassFace): PassField {
  if (!changeMessage) return text('message', 'Latest message', 'None yet');
  return { ...text('message', 'Latest message', changeMessage + invisible(messageSequence)), changeMessage: '%@' };
}

/** The sequence's binary digits as zero-width characters. */
function invisible(sequence: number): string {
  if (sequence <= 0) return '';
  return sequence.toString(2).replace(/./g, (digit) => (digit === '1' ? '\u200c' : '\u200b'));
}
