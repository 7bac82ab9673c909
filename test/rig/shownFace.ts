// What the owner of a phone sees of a pass: its face, and on the lock screen what a changed field asks to be said.
import type { PassJson, PkpassField } from './pkpass.js';

/** One version of a pass as its owner saw it. */
export interface FaceShown {
  at: Date;
  balance: number;
  label: string;
  /** The newest message on the pass's back, without marks that no eye sees. */
  message?: string;
  /** What the lock screen said when this version came; nothing for the first, or when no field asked. */
  lockScreen?: string;
  voided: boolean;
  lastModified: string | null;
  json: PassJson;
}

const fieldsOf = (json: PassJson): PkpassField[] => Object.values(json.storeCard).flat();

const visible = (value: string | number) => String(value).replace(/[\u200b\u200c]/g, '');

export function faceOf(json: PassJson, lastModified: string | null, before: PassJson | undefined): FaceShown {
  const fields = fieldsOf(json);
  const balance = fields.find(({ key }) => key === 'balance');
  const message = fields.find(({ changeMessage }) => changeMessage !== undefined);
  const lockScreen = before && lockScreenText(before, fields);
  return {
    at: new Date(),
    balance: Number(balance?.value),
    label: balance?.label ?? '',
    ...(message && { message: visible(message.value) }),
    ...(lockScreen !== undefined && { lockScreen }),
    voided: json.voided === true,
    lastModified,
    json,
  };
}

/** iOS: a changed field with a change message speaks; several at once collapse into one general notice. */
function lockScreenText(before: PassJson, fields: readonly PkpassField[]): string | undefined {
  const old = new Map(fieldsOf(before).map(({ key, value }) => [key, value]));
  const speaking = fields.filter(({ key, value, changeMessage }) => changeMessage && old.get(key) !== value);
  const [only, ...others] = speaking;
  if (only === undefined) return undefined;
  if (others.length > 0) return 'Pass changed';
  return (only.changeMessage ?? '').replace('%@', visible(only.value));
}
