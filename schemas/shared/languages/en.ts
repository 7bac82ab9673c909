// English. It defines the texts that every catalogue has.

/** How much is allowed, how much there is, and the barcode of the card. */
interface MistakeValues {
  limit: number;
  given: number;
  format: string;
}

export const en = {
  join: {
    title: (program: string): string => `Join ${program}`,
    check: (program: string): string => `Please check: Join ${program}`,
    checkFields: 'Please check the marked fields.',
    again: 'Please send the form once more.',
    rise: (tiers: string): string => `Rise through ${tiers}`,
    collect: (goal: number, unit: string, reward: string | undefined): string =>
      reward === undefined ? `Collect ${goal} ${unit} for a reward` : `Collect ${goal} ${unit}: ${reward}`,
    readySoon: 'Your card is ready in seconds',
    noApp: 'No app to install',
    optional: '(optional)',
    fields: {
      email: { label: 'Email', wrong: 'Enter an email address like ada@example.com' },
      firstName: { label: 'First name', wrong: 'Enter a name of at most 100 letters' },
      lastName: { label: 'Last name', wrong: 'Enter a name of at most 100 letters' },
      phone: { label: 'Phone', wrong: 'Enter a phone number like +49 30 123456' },
    },
    consent: 'Please tick the box to join',
    privacy: 'How your data is used',
    button: 'Get my card',
    oneCard: 'Your email keeps the card yours: one card for each address.',
    mailed: 'We send the link to your card to this address.',
    sent: 'Look into your mail',
    sentTo: (email: string): string =>
      `We are sending the link to your card to ${email}. Open it on your phone. If it is not there in a few minutes, look into your spam folder.`,
    confirm: 'One more step',
    confirmText: (email: string): string =>
      `Press the button: it confirms that ${email} is yours, and leads to your card.`,
    dead: 'This link does not work any more',
    deadText: (hours: number): string =>
      `It works once, for ${hours} hours. The mail that came after you pressed its button leads to your card; otherwise join once more.`,
    known: 'You are in already',
    knownText: 'This address joined before. Open your card from the link that you got then, or ask at the till.',
    lost: 'Lost your card?',
    lostText: 'Enter the address with which you joined. We mail you the link to your card.',
    lostAtTill: 'Ask at the till: the staff find your card by your name or address, and give you a new link.',
    lostSend: 'Mail me the link',
    lostSent: (email: string): string =>
      `If ${email} has a card here, the link to it is on its way. If it is not there in a few minutes, look into your spam folder.`,
    wrongAddress: 'Wrong address, or nothing came?',
    sendAgain: 'Send the link again',
    otherAddress: 'Join with another address',
    later: 'Not just now',
    nobody: 'Nobody can join here',
    closed: (program: string): string => `${program} takes no new members now`,
    closedText:
      'The shop has closed the page for joining. Ask there when it opens again. Cards that exist go on working.',
    refusals: {
      gone: 'There is nothing to join at this address, or the shop has closed the page. Check the link that you were given, or ask in the shop.',
      tooMany: 'There were too many tries. Please wait a few minutes and try again.',
      other: 'That did not work just now. Please try again in a moment.',
    },
  },
  /** Printed, for the counter. */
  poster: {
    scan: 'Scan with your phone’s camera',
    orOpen: (address: string): string => `Or open ${address}`,
    fold: 'Fold along the lines. Glue the narrow strip under this base.',
  },
  card: {
    title: (program: string): string => `${program} card`,
    missing: 'There is no such card',
    missingText:
      'Check the link that you were given. The shop may have replaced it: ask there, or on the page where you joined.',
    voided: 'This card is blocked.',
    reason: (reason: string): string => `Reason: ${reason}`,
    expired: 'This card has expired.',
    toGo: (points: number): string => `${points} to go`,
    ready: 'Ready',
    reward: 'Reward',
    rewardAt: (goal: number): string => `Reward at ${goal}`,
    namedAt: (reward: string, goal: number): string => `${reward} at ${goal}`,
    rewards: 'Rewards',
    full: 'Your card is full!',
    readyNow: (reward: string): string => `Ready for you: ${reward}. Show this card at the till.`,
    readyReward: 'Your reward is ready for you. Show this card at the till.',
    tier: 'Tier',
    noTier: 'None yet',
    highest: 'The highest tier',
    toTier: (points: number, tier: string): string => `${points} to ${tier}`,
    towards: (tier: string): string => `Towards ${tier}`,
    towardsReward: 'Towards the reward',
    expiring: 'Expiring',
    until: (points: number, day: string): string => `${points} until ${day}`,
    memberId: 'Member ID',
    cardNumber: 'Card number',
    qr: (label: string, code: string): string => `Code of ${label} ${code}`,
    welcome: (name: string | undefined): string => (name === undefined ? 'Welcome!' : `Welcome, ${name}!`),
    welcomeText: "This is your card. Keep this page, or add it to your phone's wallet.",
    wallets: 'Add to a wallet',
    apple: 'Add to Apple Wallet',
    google: 'Add to Google Wallet',
    virtualPhone: 'See it on a virtual phone',
    onPhone: 'On your phone',
    scan: 'Scan this with your phone to carry the card with you.',
    about: 'About this card',
    atTill: 'Show the code at the till.',
    reload: 'Reload this page to see your newest balance.',
  },
  /** The labels of the card in a wallet, and what it says about itself. */
  pass: {
    member: 'MEMBER',
    memberId: 'MEMBER ID',
    reward: 'REWARD',
    rewards: 'REWARDS',
    toNextReward: 'TO NEXT REWARD',
    nextReward: 'NEXT REWARD',
    tier: 'TIER',
    nextTier: 'NEXT TIER',
    toNextTier: 'TO NEXT TIER',
    status: 'STATUS',
    voided: 'Voided',
    expired: 'Expired',
    ready: 'Ready',
    message: 'Latest message',
    noMessage: 'None yet',
    rewardsBehind: 'Rewards',
    expiring: 'Expiring',
    memberIdBehind: 'Member ID',
    updated: 'Updated',
    name: 'Name',
    goal: 'Goal',
    tierBehind: 'Tier',
    rewardName: 'Reward',
    description: (name: string): string => `${name} loyalty card`,
    toGo: (points: number): string => `${points} to go`,
  },
  signIn: {
    title: 'Sign in',
    send: 'Send me a sign-in link',
    company: 'Sign in with your company account',
    noWay: 'Ask the operator of this service for a sign-in link.',
    as: (email: string): string => `You are signing in as ${email}.`,
    to: (merchant: string): string => `Sign in to ${merchant}`,
    used: 'This link does not work any more',
    usedText: (minutes: number, hours: number): string =>
      `A sign-in link works once, and for ${minutes} minutes; the one in an invitation for ${hours} hours.`,
    open: 'Open the console, if you are signed in already',
    check: 'Please check your address',
    sentText: (minutes: number): string =>
      `If this address belongs to a user, a mail with a sign-in link is on its way. It works for ${minutes} minutes.`,
    failed: 'That did not work',
    failedText: 'The sign-in was cancelled, took too long, or was used before. Begin again.',
    notInvited: 'You are not invited',
    notInvitedText: 'No user of this service belongs to your company account. Ask an owner to invite your address.',
    away: 'Your company does not answer',
    awayText: 'Its sign-in cannot be reached at the moment. Try again in a minute.',
  },
  mail: {
    hello: (name: string | undefined): string => (name === undefined ? 'Hello,' : `Hello ${name},`),
    orOpen: 'Or open this address:',
    'card-link': {
      subject: (from: string): string => `Your card: ${from}`,
      text: (from: string): string =>
        `here is the link to your ${from} card. Open it on your phone to add the card to your wallet.`,
      button: 'Open my card',
      why: (from: string): string =>
        `You get this mail because somebody asked for a card of ${from} with this address. If it was not you, no action is needed.`,
    },
    confirmation: {
      subject: (from: string): string => `Your card: ${from}`,
      text: (from: string, hours: number): string =>
        `open this page to confirm your address and get your ${from} card. The link works once, for ${hours} hours.`,
      button: 'Get my card',
      why: (from: string): string =>
        `You get this mail because somebody asked for a card of ${from} with this address. If it was not you, no action is needed: there is no card without you.`,
    },
    'sign-in': {
      subject: (from: string): string => `Sign in: ${from}`,
      text: (from: string, minutes: number): string =>
        `with this link you sign in to the console of ${from}. It works once, for ${minutes} minutes.`,
      button: 'Sign in',
      why: (): string => 'If you did not ask for this link, you can ignore this mail.',
    },
    /** What a role may do, said to somebody who is invited. */
    may: {
      owner: 'You may do everything there, also invite and remove people.',
      manager: 'You may do everything there but invite people and make keys.',
      viewer: 'You may look at everything there and change nothing.',
      till: 'You may give points, redeem rewards and undo at the till.',
      integration: 'Your role is for connected software.',
    },
    invitation: {
      subject: (from: string): string => `Invitation: ${from}`,
      text: (from: string, hours: number, by?: string): string =>
        `${by === undefined ? 'you are invited' : `${by} invites you`} to the console of ${from}. The link works once, for ${hours} hours; after that you can ask for a new one with this address.`,
      role: (name: string): string => `Your role there is ${name}.`,
      button: 'Accept the invitation',
      why: (): string => 'If you do not know what this is about, you can ignore this mail.',
    },
  },
  /** What is wrong with a row of an import; before it stands the title of its column. */
  importMistakes: {
    cells: ({ given, limit }: MistakeValues): string => `the row has ${given} cells where the header has ${limit}`,
    taken: 'another member has this number',
    notReached: 'the import ended before this row',
    whole: 'must be a whole number',
    atMost: ({ limit }: MistakeValues): string => `must be at most ${limit}`,
    atLeast: ({ limit }: MistakeValues): string => `must be at least ${limit}`,
    shortened: 'was shortened by a spreadsheet; format the column as text',
    decimals: 'was written with decimals by a spreadsheet; format the column as text',
    barcode: ({ format }: MistakeValues): string => `cannot be shown as ${format}, the barcode of the card`,
    tooLong: ({ limit }: MistakeValues): string => `must have at most ${limit} characters`,
    characters: 'has characters that cannot be shown',
    email: 'must be an email address',
    phone: 'must be a phone number',
  },
  /** In the file of the failed rows: the cell as it stands in the file, and which row a spreadsheet shows it in. */
  failedRows: {
    cell: (text: string): string => `“${text}”`,
    row: (line: number): string => `row ${line} of the file`,
  },
  refusals: {
    IMPORT_INVALID: 'This file cannot be imported; nothing was created.',
    IMPORT_TOO_LARGE: 'This file is too large; nothing was created. Import it in several parts.',
    /** What is wrong with the file of an import. */
    file: {
      workbook: 'This is a workbook. Open it and save it as CSV, then choose that file.',
      noText: 'This is no CSV file. Choose a table that was saved as CSV.',
      charset: (line: string): string =>
        `Near line ${line} the letters cannot be read. Choose another text encoding, or save the file as CSV UTF-8.`,
      quote: (line: string): string => `In line ${line} a cell begins with a quotation mark that is never closed.`,
      empty: 'The file is empty.',
      header: 'The first line names no column that a member has.',
      columns: (columns: string): string =>
        `The titles of these columns say no field: ${columns}. Choose one, or leave them out.`,
      twice: (columns: string): string =>
        `These columns have a field that another column has too: ${columns}. Choose one, and leave out the other.`,
    },
    full: 'The card is full; redeem the reward first.',
    room: (room: number): string => `The card has room for only ${room} more.`,
    missing: (missing: number): string => `${missing} more needed for this reward.`,
    low: (current: number, needed: number, missing: number): string =>
      `The card has ${current}, but ${needed} are needed: ${missing} ${missing === 1 ? 'is' : 'are'} missing.`,
    daily: (again: string): string => `This would exceed the limit of the day; a new day begins ${again}.`,
    cooldown: (again: string): string => `Too soon after another purchase; the next collecting is possible ${again}.`,
    dailyPast: 'That purchase exceeded the limit of its day.',
    cooldownPast: 'That purchase was too soon after another one.',
    byHand: 'A purchase that was sent later can be booked by hand in the console.',
    currency: (currency: string): string => `This card counts purchases in ${currency} only.`,
    amount: 'The amount must be a whole number of cents, without a decimal point.',
    tooOld: 'This was more than 72 hours ago, so it was not booked. It can be booked by hand in the console.',
    ahead: 'The clock of this till is ahead. Set it right, then enter this again.',
    MEMBER_NOT_FOUND: 'There is no such card.',
    MEMBER_NOT_ACTIVE: 'This card is blocked or has expired.',
    STAMP_DELTA_ONLY: 'Stamps are given one at a time here.',
    REWARD_NOT_CONFIGURED: 'This card has no reward to redeem.',
    REWARD_NOT_FOUND: 'This reward does not exist any more.',
    EARNING_NOT_CONFIGURED: 'Purchases do not collect anything on this card.',
    NOT_REVERSIBLE: 'This entry cannot be undone.',
    POINTS_EXPIRED: 'These points have expired, so there is nothing to undo.',
    ALREADY_REVERSED: 'This entry is undone already.',
    NOTHING_TO_UNDO: 'Of this till there is no change on this card from the last ten minutes; undo it in the console.',
    CODE_AMBIGUOUS: 'Several people have this code. Please choose.',
    PAIRING_CODE_INVALID: 'The code is unknown, used or expired. Ask for a new one.',
    TRANSACTION_NOT_FOUND: 'There is no such entry on this card.',
    REFERENCE_AMBIGUOUS: 'Several entries have this receipt number; choose one of them.',
    VALIDATION_FAILED: 'What was entered cannot be right; please check it.',
    IDEMPOTENCY_KEY_REUSED: 'Two transactions were mixed up; please start again.',
    IDEMPOTENCY_KEY_IN_USE: 'This is being booked at this moment; please wait a little.',
    PERMISSION_DENIED: 'That is not allowed here.',
    RATE_LIMITED: 'Too many tries; please wait a little.',
    UNAVAILABLE: 'The service cannot be reached just now; please try again in a moment.',
    INTERNAL: 'That did not work; please try again in a moment.',
  },
};

export type Catalogue = typeof en;
