// The erasures of members by `npm run merchants`: what is repeated after an older backup was restored.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { eraseMember } from '../../activities/persons/eraseMember.writes.js';
import { parseJson } from '../../platform/parseJson.js';
import { toError } from '../../platform/toError.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import { fileMistake } from '../systemError.js';
import { type CommandContext, type CommandInput, Mistakes } from './command.js';

/** Prints the erasures of all merchants as lines of JSON, or those since a time. */
export async function listErasures({ deps, say }: CommandContext, { values }: CommandInput): Promise<void> {
  const since = new Date(String(values.since ?? 0));
  if (Number.isNaN(since.getTime())) throw new Mistakes(['--since must be a moment such as 2026-11-23T10:00:00Z']);
  const rows = deps.collections.erasures.find({ erasedAt: { $gte: since } }).sort({ erasedAt: 1 });
  for await (const { _id: memberId, merchantId, programId, erasedAt } of rows)
    say(JSON.stringify({ memberId, merchantId, programId: programIdOf(programId), erasedAt }));
}

const erasure = z.object({ memberId: z.uuid(), merchantId: z.string(), erasedAt: z.iso.datetime() });

/** Throws Mistakes when the file cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Mistakes([fileMistake(error, file) ?? toError(error).message]);
  }
}

/** Repeats the erasures in a file that has one per line: printed erasures, or log lines about them. */
export async function eraseAgain({ audited, say, progress }: CommandContext, { args }: CommandInput): Promise<void> {
  const [file = '', ...rest] = args;
  if (file === '' || rest.length > 0) throw new Mistakes(['name one file']);
  const lines = textOf(file)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const parsed = lines.map((line, index) => ({ line: index + 1, erasure: erasure.safeParse(parseJson(line)).data }));
  const wrong = parsed.flatMap(({ line, erasure: found }) => (found ? [] : [`line ${line} is no erasure`]));
  if (wrong.length > 0) throw new Mistakes(wrong);
  let again = 0;
  for (const [index, { erasure: found }] of parsed.entries()) {
    if (!found) continue;
    const { memberId, merchantId, erasedAt } = found;
    const deps = audited([{ merchantId, targetId: memberId }], ['erasures']);
    again += await eraseMember(deps, { memberId, merchantId, erasedAt: new Date(erasedAt) }).then(
      () => 1,
      (error: unknown) => {
        if (error instanceof ServiceError && error.code === 'MEMBER_NOT_FOUND') return 0;
        throw error;
      },
    );
    if (index % 100 === 99) progress(`${index + 1} of ${lines.length}`);
  }
  say(`erased ${again} members again; ${lines.length - again} were not there. Workers remove what is left of them`);
}
