// What several screens of the till use.
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';

/** Where the screens stand: undefined on the till's own page. `isFresh` until a first screen has appeared. */
export const Within = createContext<{ isFresh: boolean } | undefined>(undefined);

interface TitleProps {
  children: ReactNode;
  /** What a screen reader says in its place. */
  label?: string;
  /** The heading takes the focus again when this changes. */
  again?: number | undefined;
  as?: 'h1' | 'h2';
}

/**
 * A heading that takes the focus when its screen appears, so that a screen reader begins there. Within another page it is
 * no first heading, and the first screen leaves the focus where it is.
 */
export function Title({ children, label, again, as = 'h1' }: TitleProps) {
  const within = useContext(Within);
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus follows what happened, not what is drawn
  useEffect(() => {
    if (within?.isFresh) within.isFresh = false;
    else heading.current?.focus();
  }, [within, again]);
  const Heading = within ? 'h2' : as;
  return (
    <Heading ref={heading} className="heading" tabIndex={-1} aria-label={label}>
      {children}
    </Heading>
  );
}
