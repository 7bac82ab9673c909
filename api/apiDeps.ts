// What the API's routes need beyond the store.
import type { Store } from '../activities/deps.js';
import type { SecretBox } from '../activities/secrets.js';
import type { Starter } from '../activities/starter.js';
import type { Wallets } from '../activities/wallets/wallets.js';
import type { WebhookUrlRules } from '../schemas/webhookUrl.js';
import type { GestureRoom } from './gestureRoom.js';
import type { Limits } from './limits.js';
import type { UserTokens } from './userTokens.js';

export interface ApiDeps extends Store {
  starter: Starter;
  secrets: SecretBox;
  limits: Limits;
  wallets: Wallets;
  userTokens: UserTokens;
  urlPolicy: WebhookUrlRules;
  room: GestureRoom;
}
