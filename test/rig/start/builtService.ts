// Builds the service as `npm run build` does, for tests that start its processes often: a compiled process is ready
// sooner than one that compiles its TypeScript at load. The types are not checked again, since `npm test` did that
// before.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export default function setup(): void {
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: join(import.meta.dirname, '..', '..', '..'), stdio: 'inherit' });
  run('npx', 'tsc', '-p', 'tsconfig.build.json', '--noCheck');
  run('npm', 'run', '--silent', 'bundle');
}
