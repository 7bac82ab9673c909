// The fields of Google's classes and objects, and the errors that Google reports about them
// (docs/protocols/google-wallet.md).
export type Json = Record<string, unknown>;

const classFields = new Set(
  `accountIdLabel accountNameLabel appLinkData callbackOptions classTemplateInfo countryCode heroImage hexBackgroundColor
  homepageUri id imageModulesData infoModuleData issuerName kind linksModuleData localizedAccountIdLabel
  localizedAccountNameLabel localizedIssuerName localizedProgramName locations merchantLocations messages
  multipleDevicesAndHoldersAllowedStatus programLogo programName reviewStatus rewardsTier rewardsTierLabel
  securityAnimation textModulesData viewUnlockRequirement wideProgramLogo`.split(/\s+/),
);
const objectFields = new Set(
  `accountId accountName appLinkData barcode classId disableExpirationNotification groupingInfo hasLinkedDevice hasUsers
  heroImage id imageModulesData infoModuleData kind linksModuleData locations loyaltyPoints merchantLocations messages
  notifyPreference passConstraints rotatingBarcode saveRestrictions secondaryLoyaltyPoints smartTapRedemptionValue state
  textModulesData validTimeInterval valueAddedModuleData version`.split(/\s+/),
);

/** Google's error message for an invalid resource; null when the resource is valid. */
export function badField(kind: 'class' | 'object', resource: Json): string | null {
  const known = kind === 'class' ? classFields : objectFields;
  const untold = badTexts(resource);
  if (untold !== null) return untold;
  const unknown = Object.keys(resource).find((name) => !known.has(name));
  if (unknown !== undefined) return `Invalid JSON payload received. Unknown name "${unknown}".`;
  return kind === 'class' ? badClass(resource) : badObject(resource);
}

/** Each localized text has a default, and each language once. */
function badTexts(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    if (name.startsWith('localized')) {
      const { defaultValue, translatedValues = [] } = inner;
      const texts = [defaultValue, ...translatedValues];
      if (texts.some((text) => !text?.language || !text.value)) return `Invalid value at '${name}'.`;
      if (new Set(texts.map(({ language }) => language)).size < texts.length) return `${name} repeats a language.`;
    }
    const wrong = badTexts(inner);
    if (wrong !== null) return wrong;
  }
  return null;
}

function badClass(resource: Json): string | null {
  for (const name of ['issuerName', 'programName']) {
    if (typeof resource[name] !== 'string' || resource[name] === '') return `${name} is required.`;
  }
  if (typeof at(resource, 'programLogo', 'sourceUri', 'uri') !== 'string') return 'programLogo is required.';
  const status = resource.reviewStatus;
  if (status !== 'UNDER_REVIEW' && status !== 'DRAFT' && status !== 'APPROVED') return 'Invalid review status.';
  const color = resource.hexBackgroundColor;
  if (color !== undefined && !/^#[0-9a-f]{6}$/i.test(String(color))) return 'Invalid hexBackgroundColor.';
  return null;
}

function badObject(resource: Json): string | null {
  const state = String(resource.state ?? '');
  if (!['ACTIVE', 'COMPLETED', 'EXPIRED', 'INACTIVE'].includes(state)) return `Invalid value at 'state': ${state}.`;
  if (Array.isArray(resource.messages) && resource.messages.length > 10) return 'Too many messages.';
  return badPoints(resource, 'loyaltyPoints') ?? badPoints(resource, 'secondaryLoyaltyPoints');
}

function badPoints(resource: Json, name: string): string | null {
  if (resource[name] === undefined) return null;
  const balance = at(resource, name, 'balance');
  const kinds = Object.entries(typeof balance === 'object' && balance !== null ? balance : {});
  const [only] = kinds;
  if (kinds.length !== 1 || only === undefined) return `${name}.balance must have exactly one kind.`;
  const [kind, value] = only;
  if (kind === 'int' && Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31) return null;
  if ((kind === 'string' && typeof value === 'string') || kind === 'double' || kind === 'money') return null;
  return `Invalid value at '${name}.balance.${kind}'.`;
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null
        ? new Map<string, unknown>(Object.entries(inner)).get(key)
        : undefined,
    value,
  );
}

/**
 * PATCH: objects are merged, arrays are replaced as a whole, null clears a field
 * (docs/protocols/google-wallet.md#2-objects).
 */
export function merge(present: Json, change: Json): Json {
  const next: Json = { ...present };
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete next[key];
    else next[key] = isJson(value) ? merge(isJson(next[key]) ? next[key] : {}, value) : value;
  }
  return next;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
