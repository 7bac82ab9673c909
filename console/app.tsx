// The frame: navigation, notices, the log of API calls, and obstacles (signed out, unavailable, outdated). An obstacle
// is shown above the page, which keeps what was typed.
import { useQueryClient } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense, useEffect, useState } from 'react';
import { I18nProvider } from 'react-aria-components';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { LoyaltyError } from '../sdk/index.js';
import { dismiss, notices, queryClient } from './actions.js';
import { calls, connection, isBack, isOutdated } from './api.js';
import { keepLanguage, language, languages, locale } from './language.js';
import { LeaveQuestion, reload } from './leave.js';
import { Window } from './parts/dialog.js';
import { Button, Select } from './parts/form.js';
import { OpenTill, Page, Skeleton } from './parts/page.js';
import './parts/table.js';
import { isOwner, may, readSession, SignInAgain, signInUrl, useSession, useSignOut } from './session.js';
import { useStore } from './store.js';
import { optionsOf, texts } from './texts.js';

/** Browsers do not fetch again what failed to load, so the whole page is loaded. */
function LoadWhenBack() {
  const { away } = useStore(connection);
  useEffect(() => {
    if (!away) window.location.reload();
  }, [away]);
  return <Skeleton />;
}

/**
 * A page with its script; `load` fails when a newer version has replaced the script, or when the service is away.
 */
function page(load: () => Promise<ComponentType>) {
  let loading: Promise<ComponentType> | undefined;
  const start = () => {
    loading ??= load();
    return loading;
  };
  const component = lazy(async () => {
    try {
      return { default: await start() };
    } catch {
      if (!(await isBack())) {
        connection.set({ ...connection.get(), away: true });
        return { default: LoadWhenBack };
      }
      connection.set({ ...connection.get(), outdated: true });
      return { default: () => <p className="empty">{texts.frame.outdated}</p> };
    }
  });
  return { component, start };
}

const pages = {
  '/': page(() => import('./pages/overview.js').then((shown) => shown.Overview)),
  '/programs': page(() => import('./pages/programs.js').then((shown) => shown.Programs)),
  '/programs/:id': page(() => import('./pages/program.js').then((shown) => shown.Program)),
  '/members': page(() => import('./pages/members.js').then((shown) => shown.Members)),
  '/members/:id': page(() => import('./pages/member.js').then((shown) => shown.Member)),
  '/members/:id/data': page(() => import('./pages/memberData.js').then((shown) => shown.MemberData)),
  '/imports': page(() => import('./pages/imports.js').then((shown) => shown.Imports)),
  '/campaigns': page(() => import('./pages/campaigns.js').then((shown) => shown.Campaigns)),
  '/webhooks': page(() => import('./pages/webhooks.js').then((shown) => shown.Webhooks)),
  '/webhooks/:id': page(() => import('./pages/webhook.js').then((shown) => shown.Webhook)),
  '/readers': page(() => import('./pages/readers.js').then((shown) => shown.Readers)),
  '/api-keys': page(() => import('./pages/apiKeys.js').then((shown) => shown.ApiKeys)),
  '/people': page(() => import('./pages/people.js').then((shown) => shown.People)),
  '/audit': page(() => import('./pages/audit.js').then((shown) => shown.Audit)),
  '/requests': page(() => import('./pages/requests.js').then((shown) => shown.Requests)),
  '/requests/:id': page(() => import('./pages/requests.js').then((shown) => shown.Request)),
  '/live-desk': page(() => import('./pages/liveDesk.js').then((shown) => shown.LiveDesk)),
};

/** Loads the session and the script of the page at the same time, before the first rendering. */
export function startLoading(path: string): void {
  void queryClient.prefetchQuery({ queryKey: ['session'], queryFn: readSession });
  const parts = path.split('/');
  const found = Object.entries(pages).find(([pattern]) => {
    const wanted = pattern.split('/');
    return (
      wanted.length === parts.length && wanted.every((part, index) => part.startsWith(':') || part === parts[index])
    );
  });
  found?.[1].start().catch(() => undefined);
}

function NotFound() {
  return (
    <Page title={texts.frame.notFound}>
      <p>
        <Link href="/">{texts.nav.overview}</Link>
      </p>
    </Page>
  );
}

/** The entries of the menu by group, each with the permission without which its page shows nothing. */
const groups = [
  {
    title: texts.menu.everyDay,
    entries: [
      ['/', texts.nav.overview, 'merchants.members:view'],
      ['/members', texts.nav.members, 'merchants.members:view'],
      ['/campaigns', texts.nav.campaigns, 'merchants.members:view'],
    ],
  },
  {
    title: texts.menu.cardAndTeam,
    entries: [
      ['/programs', texts.nav.programs, 'merchants.programs:view'],
      ['/imports', texts.nav.imports, 'merchants.members:view'],
      ['/readers', texts.nav.readers, 'readers:edit'],
      ['/people', texts.nav.people, 'users:view'],
    ],
  },
  {
    title: texts.menu.connections,
    entries: [
      ['/webhooks', texts.nav.webhooks, 'merchants.campaigns:view'],
      ['/api-keys', texts.nav.apiKeys, 'api-keys:view'],
      ['/audit', texts.nav.audit, 'audit:view'],
      ['/live-desk', texts.nav.liveDesk, 'merchants.members:view'],
    ],
  },
] as const;
type Entry = (typeof groups)[number]['entries'][number];
const entries: readonly Entry[] = groups.flatMap((group): readonly Entry[] => group.entries);

const openEntries = () => entries.filter(([to, , needed]) => may(needed) && (to !== '/live-desk' || isOwner()));

function speak(chosen: string): void {
  keepLanguage(chosen);
  reload();
}

function Navigation({ shown }: { shown: readonly Entry[] }) {
  const [location] = useLocation();
  const isHere = (to: string) => (to === '/' ? location === '/' : location === to || location.startsWith(`${to}/`));
  return (
    <nav className="navigation" aria-label={texts.frame.navigation}>
      <div className="groups">
        {groups.map((group) => {
          const open = shown.filter((entry) => group.entries.some((one) => one === entry));
          if (open.length === 0) return null;
          return (
            <section key={group.title} aria-label={group.title}>
              <p>{group.title}</p>
              <ul>
                {open.map(([to, title]) => (
                  <li key={to}>
                    <Link href={to} {...(isHere(to) && { 'aria-current': 'page' as const })}>
                      {title}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
        <div className="language">
          <Select
            name="language"
            label={texts.frame.language}
            value={language}
            options={optionsOf(languages)}
            onChange={speak}
          />
        </div>
      </div>
    </nav>
  );
}

/** For people who work at the till and do nothing else here. */
function OnlyTill() {
  return (
    <Page title={texts.till.title} lead={texts.till.only}>
      <div>
        <OpenTill />
      </div>
    </Page>
  );
}

/** The page of the address; the first page that the role opens in place of a start page that it does not. */
function Pages() {
  const [first] = openEntries();
  if (!first && may('till:use')) return <OnlyTill />;
  return (
    <Switch>
      {first && first[0] !== '/' && (
        <Route path="/">
          <Redirect to={first[0]} replace />
        </Route>
      )}
      {Object.entries(pages).map(([path, { component }]) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route component={NotFound} />
    </Switch>
  );
}

function Notices({ onCalls }: { onCalls: () => void }) {
  const shown = useStore(notices);
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map(({ id, kind, text }) => (
        <div key={id} className={`notice ${kind}`}>
          <span>{text}</span>
          <Button kind="link" onPress={onCalls}>
            {texts.frame.showAsCurl}
          </Button>
          <Button kind="link" aria-label={texts.frame.dismiss} onPress={() => dismiss(id)}>
            ×
          </Button>
        </div>
      ))}
    </div>
  );
}

function Calls({ onClose }: { onClose: () => void }) {
  const made = useStore(calls);
  return (
    <Window title={texts.frame.calls} onClose={onClose} wide>
      <p className="hint">{texts.frame.callsHint}</p>
      <ol className="calls">
        {made.map(({ id, method, path, status, ms, curl }) => (
          <li key={id}>
            <details open={id === made[0]?.id}>
              <summary>
                {texts.frame.call(method, path.split('?')[0] ?? '')} <span>{texts.frame.callTook(status, ms)}</span>
              </summary>
              <pre>{curl}</pre>
              <Button onPress={() => navigator.clipboard.writeText(curl)}>{texts.frame.copy}</Button>
            </details>
          </li>
        ))}
      </ol>
      <div className="row end">
        <Button onPress={onClose}>{texts.frame.close}</Button>
      </div>
    </Window>
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
  const signOut = useSignOut();
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
              {texts.frame.menu}
            </Button>
          </div>
        )}
        <span className="brand">{session.data?.merchant.name ?? texts.frame.product}</span>
        <div className="row">
          {shown.length > 0 && (
            <Button kind="link" onPress={() => setShowsCalls(true)}>
              {texts.frame.showAsCurl}
            </Button>
          )}
          <Button onPress={() => signOut.run()}>{texts.session.signOut}</Button>
        </div>
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
        {shown.length > 0 && <Navigation shown={shown} />}
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
      <Notices onCalls={() => setShowsCalls(true)} />
      {showsCalls && <Calls onClose={() => setShowsCalls(false)} />}
      <LeaveQuestion />
      {signedOut && <SignInAgain />}
    </I18nProvider>
  );
}
