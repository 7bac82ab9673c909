// What several screens of the till use.
import { type ReactNode, useEffect, useRef } from 'react';

/** A heading that takes the focus when its screen appears, so that a screen reader begins there. */
export function Title({ children }: { children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
