// What several screens of the till use.
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';

/** Where the screens stand: undefined on the till's own page. `isFresh` until a first screen has appeared. */
export const Within = createContext<{ isFresh: boolean } | undefined>(undefined);

/**
 * A heading that takes the focus when its screen appears, so that a screen reader begins there. Within another page it is
 * no first heading, and the first screen leaves the focus where it is.
 */
export function Title({ children }: { children: ReactNode }) {
  const within = useContext(Within);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (within?.isFresh) within.isFresh = false;
    else heading.current?.focus();
  }, [within]);
  const Heading = within ? 'h2' : 'h1';
  return (
    <Heading ref={heading} className="heading" tabIndex={-1}>
      {children}
    </Heading>
  );
}
