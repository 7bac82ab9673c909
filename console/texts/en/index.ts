// The texts of the console in English; functions where a text contains a number or a name.
export * from './audit.js';
export * from './campaigns.js';
export * from './design.js';
export * from './desk.js';
export * from './frame.js';
export * from './imports.js';
export * from './member.js';
export * from './members.js';
export * from './mistakes.js';
export * from './overview.js';
export * from './programs.js';
export * from './team.js';
export * from './webhooks.js';

/** Every language has these texts. */
export type Catalogue = typeof import('./index.js');
