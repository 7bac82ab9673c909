// Who is signed in, and how one signs in again: by a one-time link that is mailed. The page below stays as it is.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { notify, useAction, useDraft, useRead } from './actions.js';
import { api, connection, data } from './api.js';
import { Button, Form, Submit, TextInput } from './parts/form.js';
import { texts } from './texts.js';

export interface Session {
  merchant: string | undefined;
  permissions: readonly string[];
}

export function useSession() {
  return useRead<Session>(['session'], async () => {
    const { merchant, permissions } = await data(api.GET('/auth/session'));
    return { merchant: merchant.name ?? undefined, permissions };
  });
}

export function useSignOut() {
  return useAction(() => data(api.POST('/auth/sign-out')), {
    onDone({ signedOut }) {
      if (!signedOut) return notify('failed', texts.session.foreign);
      sessionStorage.clear();
      window.location.assign(document.baseURI);
    },
  });
}

/** `inside` a window above the page of a session that has ended. */
export function SignIn({ inside = false }: { inside?: boolean }) {
  const client = useQueryClient();
  const [email, setEmail] = useDraft('sign-in', '');
  const mail = useAction(() => data(api.POST('/auth/sign-in-links', { body: { email } })), {
    said: texts.session.linkSent,
  });
  const look = useAction(() => data(api.GET('/auth/session')), {
    onDone() {
      connection.set({ ...connection.get(), signedOut: false });
      void client.invalidateQueries();
    },
  });
  const { run } = look;
  useEffect(() => {
    const again = () => run();
    window.addEventListener('focus', again);
    return () => window.removeEventListener('focus', again);
  }, [run]);
  const form = (
    <>
      <Form label={texts.session.signIn} findings={mail.findings} onSubmit={() => mail.run()}>
        <TextInput name="email" type="email" label={texts.session.email} value={email} onChange={setEmail} />
        <p className="hint">{texts.session.linkHint}</p>
        <div className="row">
          <Submit isRunning={mail.isRunning}>{texts.session.sendLink}</Submit>
          <Button onPress={() => look.run()}>{texts.session.signedIn}</Button>
        </div>
      </Form>
    </>
  );
  if (inside) return form;
  return (
    <main className="lone">
      <h1>{texts.session.signIn}</h1>
      {form}
    </main>
  );
}
