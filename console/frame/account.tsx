// The account: who is signed in and may do what, the language, and the way out.
import { ChevronDown, CircleUser, LogOut, SquareTerminal } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../actions.js';
import { readRoles } from '../api.js';
import { keepLanguage, language, languages } from '../language.js';
import { reload } from '../leave.js';
import { Button, Select } from '../parts/form.js';
import { may, useSession, useSignOut } from '../session.js';
import { optionsOf, texts } from '../texts.js';

const builtIn: Readonly<Record<string, string | undefined>> = texts.people.builtIn;

function speak(chosen: string): void {
  keepLanguage(chosen);
  reload();
}

interface AccountProps {
  /** Undefined for somebody who has no page here. */
  onCalls: (() => void) | undefined;
}

export function Account({ onCalls }: AccountProps) {
  const session = useSession();
  const signOut = useSignOut();
  const [isOpen, setIsOpen] = useState(false);
  const { user, roleIds = [], merchant } = session.data ?? {};
  const isKnown = roleIds.every((id) => builtIn[id] !== undefined);
  const roles = useRead(['roles'], readRoles, { enabled: isOpen && !isKnown && may('users:view') });
  const nameOf = (id: string) => builtIn[id] ?? roles.data?.find((role) => role.id === id)?.name;
  const close = () => document.getElementById('account')?.hidePopover();
  return (
    <div className="accounts">
      <button type="button" className="button account" popoverTarget="account">
        <CircleUser size={20} aria-hidden />
        <span className="unseen">{texts.frame.account}</span> {user?.email && <span className="who">{user.email}</span>}
        <ChevronDown size={16} aria-hidden />
      </button>
      <section
        id="account"
        popover="auto"
        className="account-menu"
        aria-label={texts.frame.account}
        onToggle={({ newState }) => setIsOpen(newState === 'open')}
      >
        <p>
          <strong>{user?.email ?? merchant?.name ?? texts.people.you}</strong>
          <span className="hint">{roleIds.flatMap((id) => nameOf(id) ?? []).join(', ')}</span>
        </p>
        <Select
          name="language"
          label={texts.frame.language}
          value={language}
          options={optionsOf(languages)}
          onChange={speak}
        />
        {onCalls && (
          <Button
            onPress={() => {
              close();
              onCalls();
            }}
          >
            <SquareTerminal size={18} aria-hidden />
            {texts.frame.showAsCurl}
          </Button>
        )}
      </section>
      <button type="button" className="button" title={texts.session.signOut} onClick={() => signOut.run()}>
        <LogOut size={20} aria-hidden />
        <span className="unseen">{texts.session.signOut}</span>
      </button>
    </div>
  );
}
