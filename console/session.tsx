// Who is signed in. The service's own pages sign people in, by a mailed link or through a company's provider, while the
// page of the console stays open in its tab.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { notify, queryClient, useAction, useRead } from './actions.js';
import { api, connection, data } from './api.js';
import { Window } from './parts/dialog.js';
import { Button } from './parts/form.js';
import { texts } from './texts.js';

export const signInUrl = new URL('sign-in', document.baseURI).href;

export const readSession = () => data(api.GET('/auth/session'));
type Session = Awaited<ReturnType<typeof readSession>>;
export type Permission = Session['permissions'][number];

export const useSession = () => useRead(['session'], readSession);

/** Whether the role of this session has a permission. The frame shows no page before the session is read. */
export const may = (permission: Permission): boolean =>
  queryClient.getQueryData<Session>(['session'])?.permissions.includes(permission) ?? false;

/** Whether this session is an owner's. */
export const isOwner = (): boolean =>
  queryClient.getQueryData<Session>(['session'])?.roleIds.includes('owner') ?? false;

/** The first of these permissions that the role of this session lacks. */
export const lacking = (...needed: Permission[]): Permission | undefined => needed.find((one) => !may(one));

export function useSignOut() {
  return useAction(() => data(api.POST('/auth/sign-out')), {
    onDone({ signedOut }) {
      if (!signedOut) return notify('failed', texts.session.foreign);
      sessionStorage.clear();
      window.location.assign(signInUrl);
    },
  });
}

/** Shown above the page when the session has ended. */
export function SignInAgain() {
  const client = useQueryClient();
  const { run } = useAction(readSession, {
    onDone() {
      connection.set({ ...connection.get(), signedOut: false });
      void client.invalidateQueries();
    },
  });
  useEffect(() => {
    const look = () => run();
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, [run]);
  return (
    <Window title={texts.session.ended}>
      <p>{texts.session.endedHint}</p>
      <div className="row">
        <a className="button primary" href={signInUrl} target="_blank" rel="noreferrer">
          {texts.session.signIn}
        </a>
        <Button onPress={() => run()}>{texts.session.signedIn}</Button>
      </div>
    </Window>
  );
}
