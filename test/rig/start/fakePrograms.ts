// A folder of executables for a test's PATH that replace compilers and engines.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface FakePrograms {
  folder: string;
  /** A PATH with only these programs, a shell and basic commands. */
  path: string;
  add(name: string, shellScript: string): string;
  remove(): void;
}

export function fakePrograms(): FakePrograms {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-programs-'));
  return {
    folder,
    path: [folder, '/usr/bin', '/bin'].join(delimiter),
    add(name, shellScript) {
      const path = join(folder, name);
      writeFileSync(path, `#!/bin/sh\n${shellScript}\n`);
      chmodSync(path, 0o755);
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
