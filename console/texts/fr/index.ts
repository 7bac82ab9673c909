// The texts of the console in French.
import type { Catalogue } from '../en/index.js';
import { withFrenchSpaces } from '../spaces.js';
import { audit } from './audit.js';
import { campaigns } from './campaigns.js';
import { design } from './design.js';
import { desk } from './desk.js';
import { fieldNames, frame, images, menu, nav, phases, phones, plots, session, till } from './frame.js';
import { imports } from './imports.js';
import { member } from './member.js';
import { cardMails, memberData, members } from './members.js';
import { overview } from './overview.js';
import { counterPoster, programs } from './programs.js';
import { apiKeys, people, readers } from './team.js';
import { requests, webhooks } from './webhooks.js';

export const fr: Catalogue = withFrenchSpaces({
  fieldNames,
  nav,
  menu,
  frame,
  till,
  session,
  phases,
  images,
  phones,
  plots,
  programs,
  counterPoster,
  design,
  members,
  cardMails,
  memberData,
  member,
  imports,
  campaigns,
  webhooks,
  requests,
  readers,
  apiKeys,
  people,
  audit,
  overview,
  desk,
});
