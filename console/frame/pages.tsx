// The pages by their addresses, each with a script that is loaded when the page is opened.
import { type ComponentType, lazy, useEffect } from 'react';
import { Link, Redirect, Route, Switch } from 'wouter';
import { queryClient } from '../actions.js';
import { connection, isBack } from '../api.js';
import { OpenTill, Page, Skeleton } from '../parts/page.js';
import '../parts/table.js';
import { may, readSession } from '../session.js';
import { useStore } from '../store.js';
import { texts } from '../texts.js';
import { openEntries } from './menu.js';

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
  '/': page(() => import('../pages/overview.js').then((shown) => shown.Overview)),
  '/programs': page(() => import('../pages/programs.js').then((shown) => shown.Programs)),
  '/programs/:id': page(() => import('../pages/program.js').then((shown) => shown.Program)),
  '/members': page(() => import('../pages/members.js').then((shown) => shown.Members)),
  '/members/:id': page(() => import('../pages/member.js').then((shown) => shown.Member)),
  '/members/:id/data': page(() => import('../pages/memberData.js').then((shown) => shown.MemberData)),
  '/imports': page(() => import('../pages/imports.js').then((shown) => shown.Imports)),
  '/campaigns': page(() => import('../pages/campaigns.js').then((shown) => shown.Campaigns)),
  '/webhooks': page(() => import('../pages/webhooks.js').then((shown) => shown.Webhooks)),
  '/webhooks/:id': page(() => import('../pages/webhook.js').then((shown) => shown.Webhook)),
  '/readers': page(() => import('../pages/readers.js').then((shown) => shown.Readers)),
  '/api-keys': page(() => import('../pages/apiKeys.js').then((shown) => shown.ApiKeys)),
  '/people': page(() => import('../pages/people.js').then((shown) => shown.People)),
  '/audit': page(() => import('../pages/audit.js').then((shown) => shown.Audit)),
  '/requests': page(() => import('../pages/requests.js').then((shown) => shown.Requests)),
  '/requests/:id': page(() => import('../pages/requests.js').then((shown) => shown.Request)),
  '/live-desk': page(() => import('../pages/liveDesk.js').then((shown) => shown.LiveDesk)),
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
export function Pages() {
  const [first] = openEntries();
  if (!first && may('till:use')) return <OnlyTill />;
  return (
    <Switch>
      {first && first.to !== '/' && (
        <Route path="/">
          <Redirect to={first.to} replace />
        </Route>
      )}
      {Object.entries(pages).map(([path, { component }]) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route component={NotFound} />
    </Switch>
  );
}
