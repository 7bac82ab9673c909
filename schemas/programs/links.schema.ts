// What a card offers besides its code: at most two links, as buttons below Apple's pass (iOS 27, in Apple's own words)
// and as links on Google's.
import { z } from 'zod';

/** Apple shows at most two. */
const maxLinks = 2;

export const webAddress = z
  .string()
  .max(2_000)
  .regex(/^https:\/\/[^\s/]+(?:\/\S*)?$/, 'must be an address that begins with https://')
  .refine((url) => URL.canParse(url), 'must be an address');

export const links = z
  .strictObject({
    website: webAddress,
    order: webAddress,
    phone: z.string().regex(/^\+[1-9]\d{6,14}$/, 'must be a number with its country, such as +442079460958'),
  })
  .partial()
  .refine((given) => Object.keys(given).length <= maxLinks, `must be at most ${maxLinks} of website, order and phone`)
  .meta({ maxProperties: maxLinks });

type Links = z.output<typeof links>;

/** Apple writes the words: "View Membership Benefits", "Order Delivery and Pickup", "Call". */
const appleTypes = { website: 'membershipBenefits', order: 'order', phone: 'call' } as const;
const names = Object.keys(appleTypes) as (keyof typeof appleTypes)[];

const given = (from: Links) => names.flatMap((name) => (from[name] === undefined ? [] : [{ name, to: from[name] }]));

/** As wallets read it: in ASCII, also where the merchant typed other letters. */
const encoded = (address: string): string => new URL(address).href;

/** `featuredActions` of a pass. */
export const appleActions = (from: Links) =>
  given(from).map(({ name, to }) => ({
    identifier: name,
    type: appleTypes[name],
    url: name === 'phone' ? `tel://${to}` : encoded(to),
  }));

/** `linksModuleData.uris` of a Google class. */
export const googleLinks = (from: Links) =>
  given(from).map(({ name, to }) => ({
    id: name,
    uri: name === 'phone' ? `tel:${to}` : encoded(to),
    description: name === 'phone' ? to : new URL(to).host,
  }));
