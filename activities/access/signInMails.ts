// Sign-in links by mail. Nothing is sent yet: the mail is built beside this, and hands links over here.
import type { Deps } from '../../platform/deps.js';
import type { UserRow } from '../../schemas/collections.js';
import { type CreateUser, createUser } from './users.js';

/** Whether links can be mailed; where not, the operator hands them out. */
export const mailsLinks = (_deps: Pick<Deps, 'config'>): boolean => false;

/** Throws as `createUser`. */
export const inviteUser = (deps: Deps, input: CreateUser): Promise<UserRow> => createUser(deps, input);

/** Goes on in the background, so that the time of the answer says nothing about the address. */
export function mailSignInLink(_deps: Deps, _to: { email: string }): void {}
