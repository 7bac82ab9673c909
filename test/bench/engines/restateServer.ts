// Restate's server. Its package's own command would be one more process in front of it.
import { createRequire } from 'node:module';

/** Throws when the packages of the engines are not installed, or there is none for this machine. */
export function restateServer(): string {
  const require = createRequire(import.meta.url);
  const near = createRequire(require.resolve('@restatedev/restate-server/lib/index.js'));
  return near.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
}
