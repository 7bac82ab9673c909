export function isSystemError(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

const said: Record<string, string> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  ENOTDIR: 'has a file where a folder is meant',
  EEXIST: 'is there already',
  ENOTEMPTY: 'is not empty',
  EACCES: 'cannot be read or written by this user',
  EPERM: 'cannot be read or written by this user',
  EROFS: 'is on a disk that cannot be written',
  ENOSPC: 'does not fit on the disk',
};

/** What went wrong with a file, as a sentence that names it; undefined for other errors. */
export function fileMistake(error: unknown, path?: string): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined;
  const file = path ?? ('path' in error ? String(error.path) : 'a file');
  const what = said[String(error.code)];
  return what && `${file} ${what}`;
}
