// The file stack.json describes a running stack for other programs. It exists from the moment when all parts answer
// until the stack stops, is always complete, and is readable only by its owner, because it holds keys.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isSystemError } from './systemError.js';

export const demoSchema = z.object({
  merchantId: z.string(),
  apiKey: z.string(),
  consoleToken: z.string(),
  programs: z.object({ points: z.string(), stamps: z.string(), tiered: z.string() }),
});

const stackSchema = z.object({
  /** Includes `/api/v1`. */
  baseUrl: z.string(),
  publicUrl: z.string(),
  metricsUrl: z.string(),
  temporalUi: z.string().nullable(),
  temporalAddress: z.string(),
  temporalNamespace: z.string(),
  mongodbUri: z.string(),
  redisUrl: z.string().nullable(),
  /** An engine whose address the user gave has no pid here. */
  pids: z.object({
    supervisor: z.number(),
    api: z.number().optional(),
    worker: z.number().optional(),
    temporal: z.number().optional(),
    mongodb: z.number().optional(),
  }),
  demo: demoSchema,
});

export type Demo = z.infer<typeof demoSchema>;
export type StackFile = z.infer<typeof stackSchema>;

export function stackFilePath(stackDir: string): string {
  return join(stackDir, 'stack.json');
}

export function writeStackFile(stackDir: string, content: StackFile): void {
  replaceFile(stackFilePath(stackDir), `${JSON.stringify(content, null, 2)}\n`);
}

export function removeStackFile(stackDir: string): void {
  rmSync(stackFilePath(stackDir), { force: true });
}

/** Undefined when no stack.json exists. */
export function readStackFile(stackDir: string): StackFile | undefined {
  try {
    return stackSchema.parse(JSON.parse(readFileSync(stackFilePath(stackDir), 'utf8')));
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Replaces the file with one rename, so readers see the old content or the new content. Only the owner may read the
 * file.
 */
export function replaceFile(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}
