// Creating: lists come first, and a button opens the form in a panel at the side, which has the focus until it is closed.
import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useUnsaved } from '../leave.js';
import { lacking, type Permission } from '../session.js';
import { texts } from '../texts.js';
import { Confirm, Window } from './dialog.js';
import { Button } from './form.js';

interface OpenPanelProps {
  title: string;
  /** The button is shown to those who have all of these. */
  needs: Permission | readonly Permission[];
  /** In place of the button, says which permission is missing: to somebody who may do the rest of the page. */
  explains?: boolean;
  onPress: () => void;
}

export function OpenPanel({ title, needs, explains = false, onPress }: OpenPanelProps) {
  const missing = lacking(...[needs].flat());
  if (missing !== undefined) return explains ? <p className="hint">{texts.frame.notAllowed(missing)}</p> : null;
  return (
    <Button kind="primary" onPress={onPress}>
      <Plus size={18} aria-hidden />
      {title}
    </Button>
  );
}

interface SidePanelProps {
  title: string;
  /** Asks before it is closed; the tab keeps what was typed. */
  isUnsaved: boolean;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

export function SidePanel({ title, isUnsaved, onClose, children, wide = false }: SidePanelProps) {
  const [asks, setAsks] = useState(false);
  useUnsaved(isUnsaved);
  return (
    <Window title={title} side wide={wide} onClose={() => (isUnsaved ? setAsks(true) : onClose())}>
      {children}
      {asks && (
        <Confirm
          title={texts.frame.leaveTitle}
          action={texts.frame.close}
          onConfirm={onClose}
          onClose={() => setAsks(false)}
        >
          <p>{texts.frame.leaveHint}</p>
        </Confirm>
      )}
    </Window>
  );
}

/** What was typed differs from what a form begins with. */
export const isTyped = (draft: object, blank: object): boolean => JSON.stringify(draft) !== JSON.stringify(blank);
