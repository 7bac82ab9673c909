// Dialogs, on the component library's modal, which handles the focus.
import { X } from 'lucide-react';
import { createContext, Fragment, type ReactNode, useContext, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { texts } from '../texts.js';
import { Button } from './form.js';

interface WindowProps {
  title: string;
  onClose?: () => void;
  children: ReactNode;
  wide?: boolean;
  /** At the right side of the page, as high as the screen. */
  side?: boolean;
}

export function Window({ title, onClose, children, wide = false, side = false }: WindowProps) {
  const closes = onClose !== undefined;
  return (
    <ModalOverlay
      className={side ? 'overlay side' : 'overlay'}
      isOpen
      isDismissable={closes}
      isKeyboardDismissDisabled={!closes}
      onOpenChange={(open) => open || onClose?.()}
    >
      <Modal className={wide ? 'window wide' : 'window'}>
        <Dialog className="dialog">
          <div className="row between">
            <Heading slot="title">{title}</Heading>
            {side && (
              <Button kind="link" aria-label={texts.frame.close} {...(onClose && { onPress: onClose })}>
                <X size={20} aria-hidden />
              </Button>
            )}
          </div>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

type Opening = (close: () => void) => ReactNode;

const Opener = createContext<(opening: Opening) => void>(() => undefined);

/** Opens a window that stays until it is closed or the page is left, also when the row that opened it has moved away. */
export const useWindow = () => useContext(Opener);

/** The windows that the parts of a page open. */
export function Windows({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<readonly { id: number; opening: Opening }[]>([]);
  const open = (opening: Opening) => setShown((now) => [...now, { id: (now.at(-1)?.id ?? 0) + 1, opening }]);
  const close = (closed: number) => setShown((now) => now.filter(({ id }) => id !== closed));
  return (
    <Opener.Provider value={open}>
      {children}
      {shown.map(({ id, opening }) => (
        <Fragment key={id}>{opening(() => close(id))}</Fragment>
      ))}
    </Opener.Provider>
  );
}

interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  /** What screen readers say of the action, where its text alone says too little. */
  actionName?: string;
  kind?: 'primary' | 'danger';
  isRunning?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({
  title,
  children,
  action,
  actionName,
  kind = 'primary',
  isRunning = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  return (
    <Window title={title} onClose={onClose}>
      <div className="stack">{children}</div>
      <div className="row end">
        <Button autoFocus={kind === 'danger'} onPress={onClose}>
          {texts.frame.cancel}
        </Button>
        <Button
          kind={kind}
          isDisabled={isRunning}
          onPress={onConfirm}
          {...(actionName && { 'aria-label': actionName })}
        >
          {action}
        </Button>
      </div>
    </Window>
  );
}
