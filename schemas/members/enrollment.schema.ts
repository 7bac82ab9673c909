// Request and answer of the public page (docs/interface.md#47-public-enrollment). Anybody can enter any address there,
// so an answer about a known email contains no data of its member.
import { z } from 'zod';
import { email } from '../shared/email.rules.js';
import { phone } from '../shared/phone.rules.js';
import { firstCharacters, text } from '../shared/text.js';
import { consent, name } from './members.schema.js';

/** An empty form field counts as absent. */
const leftEmpty = (value: unknown): unknown => (typeof value === 'string' && value.trim() === '' ? undefined : value);

export const isAttribution = (key: string): boolean => /^(?:ref|utm_[a-z0-9_]{1,40})$/.test(key);
const maxAttributionLength = 200;
const attributionValue = text(1, maxAttributionLength);
const maxAttributions = 20;

/**
 * The first usable text of a parameter, cut to 200 characters. The customer did not type these values and cannot mend
 * them, so what cannot be stored is dropped.
 */
function attributionOf(value: unknown): string | undefined {
  for (const each of [value].flat()) {
    // U+FFFD replaces bytes that are not UTF-8.
    if (typeof each !== 'string' || each.includes('\uFFFD')) continue;
    const read = attributionValue.safeParse(firstCharacters(each.trim(), maxAttributionLength));
    if (read.success) return read.data;
  }
  return undefined;
}

/** A check box sends `on`. */
const ticked = z
  .unknown()
  .transform((value) => value === true || ['true', 'on', '1', 'yes'].includes(String(value).toLowerCase()))
  .meta({ shown: { anyOf: [{ type: 'boolean' }, { type: 'string', description: '`on`, as a form sends it' }] } });

const joiningPerson = z.object({
  email: z.string(),
  firstName: z.string().exactOptional(),
  lastName: z.string().exactOptional(),
  phone: z.string().exactOptional(),
});

const given = consent.extend({ at: z.coerce.date() });

/** What somebody entered on the public page, as it is enrolled. */
export const joining = z.object({
  person: joiningPerson,
  attribution: z.record(z.string(), z.string()),
  consent: given.exactOptional(),
  marketing: given.exactOptional(),
});
export type Joining = z.output<typeof joining>;

export interface PublicEnrollment extends Pick<Joining, 'person' | 'attribution'> {
  /** Whether the person agreed to the consent text of the program. */
  consent: boolean;
  /** The same of the marketing text, which nobody has to agree to. */
  marketing: boolean;
}

/** Unknown keys are ignored; `utm_*` and `ref` are stored as the member's attribution if they can be. */
export const publicEnrollRequest = z
  .looseObject({
    email,
    consent: ticked.optional(),
    marketing: ticked.optional(),
    firstName: z.preprocess(leftEmpty, name.optional()).meta({ shown: { type: 'string', maxLength: 100 } }),
    lastName: z.preprocess(leftEmpty, name.optional()).meta({ shown: { type: 'string', maxLength: 100 } }),
    phone: z.preprocess(leftEmpty, phone.optional()).meta({ shown: { type: 'string', maxLength: 100 } }),
  })
  .transform(({ email, firstName, lastName, phone, consent = false, marketing = false, ...rest }): PublicEnrollment => {
    const attribution: Record<string, string> = {};
    for (const [key, given] of Object.entries(rest).filter(([key]) => isAttribution(key))) {
      const value = attributionOf(given);
      if (value !== undefined && Object.keys(attribution).length < maxAttributions) attribution[key] = value;
    }
    return {
      person: { email, ...(firstName && { firstName }), ...(lastName && { lastName }), ...(phone && { phone }) },
      consent,
      marketing,
      attribution,
    };
  });

const newcomer = z.object({
  member: z.object({ memberCode: z.string().length(10) }),
  apple: z.object({ passUrl: z.string() }),
  google: z.object({
    saveUrl: z.string().nullable().describe('null in stub mode, and for as long as Google has not taken the pass'),
  }),
});

export const publicEnrollment = z.union([
  newcomer,
  z.object({ deduped: z.literal(true) }),
  z.object({ confirm: z.literal(true).describe('a link to confirm the address is mailed') }),
]);
