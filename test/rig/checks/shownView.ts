// What a phone shows of a pass: its face, and the lock screen's text for a changed field with a change message.
import { type AppleFace, appleFace, type System } from '../../../console/parts/faces.js';
import type { PassJson, PkpassField } from './pkpass.js';

/** One version of a pass as its owner saw it. */
export interface ViewShown {
  at: Date;
  balance: number;
  label: string;
  /** The newest message on the pass's back, without invisible characters. */
  message?: string;
  /**
   * The lock screen's text for this version; undefined for the first version or when no changed field has a change
   * message.
   */
  lockScreen?: string;
  voided: boolean;
  lastModified: string | null;
  json: PassJson;
  face: AppleFace;
}

const fieldsOf = ({ header, primary, secondary, auxiliary, footer, back }: AppleFace): PkpassField[] =>
  [header, primary, secondary, auxiliary, footer, back].flat();

const visible = (value: string | number) => String(value).replace(/[\u200b\u200c]/g, '');

export function viewOf(
  json: PassJson,
  at: { system: System; lastModified: string | null; before: PassJson | undefined },
): ViewShown {
  const { system, lastModified, before } = at;
  const face = appleFace(json, system);
  const fields = fieldsOf(face);
  const balance = fields.find(({ key }) => key === 'balance');
  const message = fields.find(({ changeMessage }) => changeMessage !== undefined);
  const lockScreen = before && lockScreenText(fieldsOf(appleFace(before, system)), fields);
  return {
    at: new Date(),
    balance: Number(balance?.value),
    label: balance?.label ?? '',
    ...(message && { message: visible(message.value) }),
    ...(lockScreen !== undefined && { lockScreen }),
    voided: json.voided === true,
    ...{ lastModified, json, face },
  };
}

/**
 * iOS shows the change message of a changed field; when several such fields change at once it shows one general notice.
 */
function lockScreenText(before: readonly PkpassField[], fields: readonly PkpassField[]): string | undefined {
  const old = new Map(before.map(({ key, value }) => [key, value]));
  const speaking = fields.filter(({ key, value, changeMessage }) => changeMessage && old.get(key) !== value);
  const [only, ...others] = speaking;
  if (only === undefined) return undefined;
  if (others.length > 0) return 'Pass changed';
  return (only.changeMessage ?? '').replace('%@', visible(only.value));
}
