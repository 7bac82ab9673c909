// The frame: the menu, the account, notices, the log of API calls, and obstacles (signed out, unavailable, outdated). An
// obstacle is shown above the page, which keeps what was typed.
import { useQueryClient } from '@tanstack/react-query';
import { Menu as MenuIcon, X } from 'lucide-react';
import { Suspense, useEffect, useState } from 'react';
import { I18nProvider } from 'react-aria-components';
import { useLocation } from 'wouter';
import { LoyaltyError } from '../sdk/index.js';
import { dismiss, notices } from './actions.js';
import { connection, isBack, isOutdated } from './api.js';
import { Account } from './frame/account.js';
import { Calls } from './frame/calls.js';
import { Brand, entries, Menu, openEntries } from './frame/menu.js';
import { Pages } from './frame/pages.js';
import { locale } from './language.js';
import { LeaveQuestion, reload } from './leave.js';
import { Button } from './parts/form.js';
import { Skeleton } from './parts/page.js';
import { SignInAgain, signInUrl, useSession } from './session.js';
import { useStore } from './store.js';
import { texts } from './texts.js';

/** The newest one; a failure stands again when what was said after it is gone. */
function Notices() {
  const newest = useStore(notices).at(-1);
  return (
    // Also while a window is open, which hides the rest of the page from screen readers.
    <div className="notices" role="status" aria-live="polite" data-react-aria-top-layer="true">
      {newest && (
        <div key={newest.id} className={`notice ${newest.kind}`}>
          <span>{newest.text}</span>
          {newest.undo && (
            <Button
              kind="link"
              onPress={() => {
                dismiss(newest.id);
                newest.undo?.();
              }}
            >
              {texts.member.reverse}
            </Button>
          )}
          <Button kind="link" aria-label={texts.frame.dismiss} onPress={() => dismiss(newest.id)}>
            <X size={18} aria-hidden />
          </Button>
        </div>
      )}
    </div>
  );
}

const backEveryMs = 2_000;
const outdatedEveryMs = 60_000;

function useConnection() {
  const client = useQueryClient();
  const state = useStore(connection);
  useEffect(() => {
    if (!state.away) return;
    const timer = setInterval(async () => {
      if (!(await isBack())) return;
      connection.set({ ...connection.get(), away: false });
      await client.invalidateQueries();
    }, backEveryMs);
    return () => clearInterval(timer);
  }, [state.away, client]);
  useEffect(() => {
    const look = async () => {
      if (!document.hidden && (await isOutdated())) connection.set({ ...connection.get(), outdated: true });
    };
    const timer = setInterval(look, outdatedEveryMs);
    window.addEventListener('focus', look);
    return () => {
      clearInterval(timer);
      window.removeEventListener('focus', look);
    };
  }, []);
  return state;
}

export function App() {
  const { signedOut, away, outdated } = useConnection();
  const session = useSession();
  const [location] = useLocation();
  const [menu, setMenu] = useState(false);
  const [showsCalls, setShowsCalls] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu
  useEffect(() => setMenu(false), [location]);

  const isOut = session.error instanceof LoyaltyError && session.error.status === 401 && !session.data;
  useEffect(() => {
    if (isOut) window.location.replace(signInUrl);
  }, [isOut]);
  const isKnown = !isOut && !session.isPending;
  const shown = session.data ? openEntries() : entries;
  return (
    <I18nProvider locale={locale}>
      <a className="skip" href="#main">
        {texts.frame.skip}
      </a>
      <header className="top">
        {shown.length > 0 && (
          <div className="menu">
            <Button aria-expanded={menu} onPress={() => setMenu(!menu)}>
              <MenuIcon size={20} aria-hidden />
              <span className="unseen">{texts.frame.menu}</span>
            </Button>
          </div>
        )}
        <Brand />
        <Account onCalls={shown.length > 0 ? () => setShowsCalls(true) : undefined} />
      </header>
      {away && (
        <p className="banner failed" role="alert">
          {texts.frame.away}
        </p>
      )}
      {outdated && (
        <p className="banner" role="alert">
          {texts.frame.outdated} <Button onPress={reload}>{texts.frame.reload}</Button>
        </p>
      )}
      <div className={`body ${menu ? 'open' : ''} ${shown.length > 0 ? '' : 'alone'}`}>
        {shown.length > 0 && <Menu shown={shown} />}
        <main id="main" tabIndex={-1}>
          {isKnown ? (
            <Suspense fallback={<Skeleton />}>
              <Pages />
            </Suspense>
          ) : (
            <Skeleton />
          )}
        </main>
      </div>
      <Notices />
      {showsCalls && <Calls onClose={() => setShowsCalls(false)} />}
      <LeaveQuestion />
      {signedOut && <SignInAgain />}
    </I18nProvider>
  );
}
