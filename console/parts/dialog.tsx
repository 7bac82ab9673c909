// Dialogs, on the component library's modal, which handles the focus.
import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { texts } from '../texts.js';
import { Button } from './form.js';

interface WindowProps {
  title: string;
  onClose?: () => void;
  children: ReactNode;
  wide?: boolean;
}

export function Window({ title, onClose, children, wide = false }: WindowProps) {
  const closes = onClose !== undefined;
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable={closes}
      isKeyboardDismissDisabled={!closes}
      onOpenChange={(open) => open || onClose?.()}
    >
      <Modal className={wide ? 'window wide' : 'window'}>
        <Dialog className="dialog">
          <Heading slot="title">{title}</Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
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
