// The menu: the merchant, and the pages that a role may see in three groups.
import {
  Building2,
  ChartColumn,
  FileUp,
  History,
  IdCard,
  KeyRound,
  type LucideIcon,
  Megaphone,
  Nfc,
  Smartphone,
  UserCog,
  Users,
  Webhook,
} from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useRead } from '../actions.js';
import { api, data, serviceUrl } from '../api.js';
import { isOwner, may, type Permission, useSession } from '../session.js';
import { texts } from '../texts.js';

interface Entry {
  to: string;
  title: string;
  icon: LucideIcon;
  /** Without it the page shows nothing. */
  needs: Permission;
}

const groups: readonly { title: string; entries: readonly Entry[] }[] = [
  {
    title: texts.menu.everyDay,
    entries: [
      { to: '/', title: texts.nav.overview, icon: ChartColumn, needs: 'merchants.members:view' },
      { to: '/members', title: texts.nav.members, icon: Users, needs: 'merchants.members:view' },
      { to: '/campaigns', title: texts.nav.campaigns, icon: Megaphone, needs: 'merchants.members:view' },
    ],
  },
  {
    title: texts.menu.cardAndTeam,
    entries: [
      { to: '/programs', title: texts.nav.programs, icon: IdCard, needs: 'merchants.programs:view' },
      { to: '/imports', title: texts.nav.imports, icon: FileUp, needs: 'merchants.members:view' },
      { to: '/readers', title: texts.nav.readers, icon: Nfc, needs: 'readers:edit' },
      { to: '/people', title: texts.nav.people, icon: UserCog, needs: 'users:view' },
    ],
  },
  {
    title: texts.menu.connections,
    entries: [
      { to: '/webhooks', title: texts.nav.webhooks, icon: Webhook, needs: 'merchants.campaigns:view' },
      { to: '/api-keys', title: texts.nav.apiKeys, icon: KeyRound, needs: 'api-keys:view' },
      { to: '/audit', title: texts.nav.audit, icon: History, needs: 'audit:view' },
      { to: '/live-desk', title: texts.nav.liveDesk, icon: Smartphone, needs: 'merchants.members:view' },
    ],
  },
];
export const entries: readonly Entry[] = groups.flatMap((group) => group.entries);

export const openEntries = (): Entry[] =>
  entries.filter(({ to, needs }) => may(needs) && (to !== '/live-desk' || isOwner()));

export function Menu({ shown }: { shown: readonly Entry[] }) {
  const [location] = useLocation();
  const isHere = (to: string) => location === to || (to !== '/' && location.startsWith(`${to}/`));
  return (
    <nav className="navigation" aria-label={texts.frame.navigation}>
      <div className="groups">
        {groups.map((group) => {
          const open = shown.filter((entry) => group.entries.includes(entry));
          if (open.length === 0) return null;
          return (
            <section key={group.title} aria-label={group.title}>
              <p>{group.title}</p>
              <ul>
                {open.map(({ to, title, icon: Icon }) => (
                  <li key={to}>
                    <Link href={to} {...(isHere(to) && { 'aria-current': 'page' as const })}>
                      <Icon size={18} aria-hidden />
                      {title}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
    </nav>
  );
}

/** The logo of the first program that has been published; without a logo it is an icon in the colours of the card. */
function Logo() {
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')), {
    enabled: may('merchants.programs:view'),
  });
  const [without, setWithout] = useState<readonly string[]>([]);
  const id = programs.data?.find(({ _id, archived }) => !archived && !without.includes(_id))?._id;
  if (id === undefined) return <Building2 size={20} aria-hidden />;
  return (
    <img
      src={`${serviceUrl}/wallet/images/${encodeURIComponent(id)}/logo.png`}
      alt=""
      onError={() => setWithout([...without, id])}
    />
  );
}

export function Brand() {
  const session = useSession();
  return (
    <div className="brand">
      <span className="logo">{session.data && <Logo />}</span>
      <span>{session.data?.merchant.name ?? texts.frame.product}</span>
    </div>
  );
}
