// Lists the readers of a merchant, and revokes one, such as that of a stolen device. People make and pair them in the
// console.
import { revokeReader } from '../../activities/till/readers.writes.js';
import { readerNow } from '../../activities/till/taps.writes.js';
import { missingOf, receivedOf, type Taps } from '../../schemas/till/taps.rules.js';
import { type Command, type CommandContext, type CommandInput, Mistakes, main, required, table } from './command.js';

async function list({ deps, say }: CommandContext, input: CommandInput): Promise<void> {
  const [merchantId = ''] = required(input, ['merchant']);
  const readers = await deps.collections.readers.find({ merchantId }).sort({ createdAt: -1 }).toArray();
  const rows = await Promise.all(
    readers.map(async (reader) => {
      const { _id, name, pairedAt, revokedAt, lastSeenAt, former, taps } = await readerNow(deps, reader);
      const present = pairedAt ? 'paired' : 'no device';
      const state = revokedAt ? 'revoked' : present;
      const sum = (count: (of: Taps) => number) => [...former, taps].reduce((all, each) => all + count(each), 0);
      const [received, missing] = [sum(receivedOf), sum(missingOf)];
      return [_id, state, lastSeenAt?.toISOString() ?? 'never', String(received), String(missing), name];
    }),
  );
  for (const line of table([['ID', 'STATE', 'LAST SEEN', 'TAPS', 'MISSING', 'NAME'], ...rows])) say(line);
}

async function revoke({ deps, audited, say }: CommandContext, { args }: CommandInput): Promise<void> {
  const [id, ...more] = args;
  if (!id || more.length > 0) throw new Mistakes(['name one reader']);
  const { merchantId = '', name } = (await deps.collections.readers.findOne({ _id: id })) ?? {};
  await revokeReader(audited([{ merchantId }], ['readers']), { merchantId, id });
  say(`${name} is revoked; new requests of its device fail at once`);
}

export const readers: Command = {
  name: 'readers',
  verbs: {
    list: {
      usage: 'list --merchant ID',
      does: 'shows the readers of a merchant, and how many of their taps are missing',
      example: 'list --merchant corner-cafe',
      options: { merchant: { type: 'string' } },
      audit: null,
      run: list,
    },
    revoke: {
      usage: 'revoke READER',
      does: 'ends the token of a reader, at once',
      example: 'revoke 6b1f7c1e',
      takesWords: true,
      audit: 'reader.revoke',
      run: revoke,
    },
  },
};

if (process.argv[1]?.match(/commands\/readers\.[jt]s$/)) await main(readers);
