// Programs and their posters.

export const programs = {
  lead: 'Your loyalty cards: what they look like, what people collect and what they get for it.',
  create: 'New loyalty card',
  name: 'Name',
  style: 'Style',
  styles: {
    stamps: 'Stamps',
    points: 'Points',
    tiered: 'Points with tiers',
  },
  /** What a new card begins with. */
  beginnings: { points: 'POINTS', stamps: 'STAMPS', bronze: 'Bronze', silver: 'Silver', gold: 'Gold' },
  program: 'Loyalty card',
  unit: 'What people collect',
  goal: 'Goal',
  version: 'Version',
  state: 'State',
  open: 'Active',
  archived: 'Archived',
  none: 'No loyalty card yet.',
  inUtc:
    'The time zone of this device is not known here, so days and hours are counted in UTC. Choose yours under Expiry.',
};

export const counterPoster = {
  title: 'Poster for the counter',
  hint: 'The QR code of the page on which people join, in the colours, with the logo and in the language of the card as it is published.',
  format: 'Size',
  formats: {
    a4: 'A4',
    a5: 'A5',
    tent: 'Table tent (A4 to fold)',
  },
  pdf: 'Download PDF',
  png: 'Download picture (PNG)',
  saved: 'The poster is in your downloads.',
  neverPublished: 'Publish the card first: until then its page does not exist.',
  archived: 'The card is archived, so no one can join.',
  closed: 'The page is closed, so the code would lead nowhere. Open it and publish.',
  lettersMissing: (letters: string) => `The poster’s fonts lack these letters of the card’s texts: ${letters}`,
};
