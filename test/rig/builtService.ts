// Builds the service with `npm run build`, for tests that start its processes often: a compiled process is ready sooner
// than one that compiles its TypeScript at load.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export default function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: join(import.meta.dirname, '..', '..'), stdio: 'inherit' });
}
