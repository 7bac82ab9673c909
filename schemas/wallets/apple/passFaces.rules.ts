// Which fields of a pass stand where: on the store card, and on the poster of iOS 27 and later. Wallet drops what a face has
// no room for, so that is on the back.

export interface PassField {
  key: string;
  label: string;
  value: string | number;
  changeMessage?: string;
  numberStyle?: 'PKNumberStyleDecimal';
  dateStyle?: 'PKDateStyleMedium';
  timeStyle?: 'PKDateStyleShort';
}

interface StoreCard {
  headerFields: PassField[];
  primaryFields: PassField[];
  secondaryFields: PassField[];
  auxiliaryFields: PassField[];
  backFields: PassField[];
}

/** The face of iOS 27 and later; older systems show the store card. */
type Poster = StoreCard & { footerFields: PassField[] };

/** The fields before a face has chosen among them. */
export interface PassParts {
  header: PassField[];
  front: Record<'primaryFields' | 'secondaryFields' | 'auxiliaryFields', PassField[]>;
  message: PassField;
  back: PassField[];
}

/** Below the large field Wallet shows four, and drops the rest. */
const maxRowFields = 4;
/** What moves to the back where there are more, first of all the name. */
const givesWay = ['member', 'reward'];

export function storeCardOf({ header, front, message, back }: PassParts): StoreCard {
  const rows = [...front.secondaryFields, ...front.auxiliaryFields];
  const keys = givesWay
    .filter((key) => rows.some((field) => field.key === key))
    .slice(0, Math.max(rows.length - maxRowFields, 0));
  const stays = ({ key }: PassField) => !keys.includes(key);
  return {
    headerFields: header,
    primaryFields: front.primaryFields,
    secondaryFields: front.secondaryFields.filter(stays),
    auxiliaryFields: front.auxiliaryFields.filter(stays),
    backFields: [message, ...rows.filter((field) => !stays(field)), ...back],
  };
}

/** A poster shows one field at its head, four in its middle and one at its foot; the others are on its back. */
export function posterOf({ header, front, message, back }: PassParts): Poster {
  const fields = [...front.primaryFields, ...front.secondaryFields, ...front.auxiliaryFields];
  const isFirst = ({ key }: PassField) => key === 'status';
  const isFoot = ({ key }: PassField) => key === 'memberCode';
  const middle = [...fields.filter(isFirst), ...fields.filter((field) => !isFirst(field) && !isFoot(field))];
  return {
    headerFields: header.slice(0, 1),
    primaryFields: middle.slice(0, 4),
    footerFields: fields.filter(isFoot),
    secondaryFields: [],
    auxiliaryFields: [],
    backFields: [message, ...middle.slice(4), ...back],
  };
}
