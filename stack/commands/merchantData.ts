// The export of a merchant by `npm run merchants`, and its removal. An interrupted command continues when it is run
// again.
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createMailer } from '../../activities/mail/mailer.client.js';
import { merchantCollections, merchantRows } from '../../activities/persons/merchantRows.reads.js';
import { clearObjects, owedClears } from '../../activities/wallets/google/clearObjects.activity.js';
import { createWallets } from '../../activities/wallets/wallets.client.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact, writeBulk } from '../../platform/mongodb/transact.js';
import { removeAll, updateAll } from '../../platform/mongodb/updateMany.js';
import { batchPhases, isFinished } from '../../schemas/batches/batches.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { exportedRow } from '../../schemas/persons/exportedRow.rules.js';
import type { CollectionName } from '../../schemas/tables/collections.js';
import { type CommandContext, Mistakes } from './command.js';

const progressMs = 1_000;

/** Prints the progress, once a second and at each end. */
function createProgress({ progress }: CommandContext, verb: string) {
  let shownAt = 0;
  return (name: string, rows: number, isOver: boolean) => {
    const now = performance.now();
    if (!isOver && now - shownAt < progressMs) return;
    shownAt = now;
    if (!isOver || rows > 0) progress(`${verb} ${name}: ${rows} rows`);
  };
}

const exportedLine = z.object({
  collection: z.string(),
  row: z.object({ _id: z.string(), merchantId: z.string().optional() }),
});
const lastLine = { complete: true };
/** How each line but the last begins. */
const lineStart = '{"collection":"';
/** Longer than any line: a row has at most 16 MB. */
const tailBytes = 40 * 1024 * 1024;

interface Start {
  collection: CollectionName;
  after: string;
}

interface Stored {
  /** Undefined when there is no whole line. */
  last: Start | 'complete' | undefined;
  /** The length of the whole lines. */
  bytes: number;
}

/** Reads where the export of the merchant into this file stopped. Throws Mistakes for another file. */
function storedIn(file: string, merchantId: string): Stored {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const tail = Buffer.alloc(Math.min(size, tailBytes));
    readSync(descriptor, tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf('\n') + 1;
    const head = tail.subarray(0, lineStart.length).toString('utf8');
    if (end === 0 && size <= tailBytes && lineStart.startsWith(head)) return { last: undefined, bytes: 0 };
    const bytes = size - tail.length + end;
    const lineBefore = (at: number) => tail.subarray(tail.lastIndexOf('\n', at - 2) + 1, at - 1).toString('utf8');
    const line = lineBefore(end);
    const isComplete = line === JSON.stringify(lastLine);
    if (isComplete && bytes === line.length + 1) return { last: 'complete', bytes };
    const { collection, row } = exportedLine.parse(JSON.parse(isComplete ? lineBefore(end - line.length - 1) : line));
    const known = merchantCollections.find((name) => name === collection);
    const owner = collection === 'merchants' ? row._id : row.merchantId;
    if (!known || owner !== merchantId) throw new Error('of something else');
    return { last: isComplete ? 'complete' : { collection: known, after: row._id }, bytes };
  } catch {
    throw new Mistakes([`${file} holds no export of merchant ${merchantId} that could be continued`]);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Where the export into `part` has to begin. An incomplete last line is cut off, once the rest was checked. Throws
 * Mistakes when `to` or `part` is another file.
 */
function startOf({ to, part, merchantId }: { to: string; part: string; merchantId: string }): Stored['last'] {
  if (existsSync(to) && statSync(to).size > 0) {
    if (storedIn(to, merchantId).last === 'complete') return 'complete';
    throw new Mistakes([`${to} is there already, and holds no complete export`]);
  }
  if (!existsSync(part)) return undefined;
  const { last, bytes } = storedIn(part, merchantId);
  if (last === 'complete') renameSync(part, to);
  else truncateSync(part, bytes);
  return last;
}

/**
 * Writes all rows of a merchant as lines of JSON, without secrets. A file is written under the name `<file>.part`, for
 * its owner alone, and gets its name when it is complete; the next call goes on where one was interrupted. Throws
 * Mistakes when there is no row.
 */
export async function exportMerchant(context: CommandContext, { merchantId, to }: { merchantId: string; to?: string }) {
  const { deps, say, progress } = context;
  const part = `${to}.part`;
  const start = to === undefined ? undefined : startOf({ to, part, merchantId });
  if (start === 'complete') return progress(`${to} is complete`);
  const write = (lines: string[]) => {
    if (to === undefined) say(lines.join('\n'));
    else appendFileSync(part, `${lines.join('\n')}\n`, { mode: 0o600 });
  };
  const show = createProgress(context, 'exported');
  let isKnown = start !== undefined;
  for (const name of merchantCollections.slice(start ? merchantCollections.indexOf(start.collection) : 0)) {
    let rows = 0;
    const after = name === start?.collection ? start.after : '';
    for await (const page of merchantRows(deps, { name, merchantId, after })) {
      write(page.map((row) => JSON.stringify({ collection: name, row: exportedRow(name, row) })));
      rows += page.length;
      show(name, rows, false);
    }
    isKnown ||= rows > 0;
    show(name, rows, true);
  }
  if (!isKnown) throw new Mistakes([`nothing is kept of the merchant ${merchantId}`]);
  write([JSON.stringify(lastLine)]);
  if (to !== undefined) renameSync(part, to);
}

/** The longest time for which a process still works for a merchant that was just suspended. */
const suspensionMs = 2_000;
const mostRounds = 10;

/**
 * Suspends the merchant, ends its workflows, clears its objects at Google and its mail files, and removes all its rows,
 * repeatedly until none is left, because work in progress may still write. One row remains and keeps the merchant
 * suspended.
 */
export async function removeMerchant(context: CommandContext, merchantId: string): Promise<void> {
  const { deps, audited, progress } = context;
  const now = deps.now();
  const $setOnInsert = { createdAt: now };
  await deps.collections.merchants.updateOne(
    { _id: merchantId },
    { $set: { suspendedAt: now, name: merchantId }, $unset: { limits: '' }, $setOnInsert },
    { upsert: true },
  );
  await updateAll(deps, 'batches', {
    where: { merchantId, phase: { $in: batchPhases.filter((phase) => !isFinished(phase)) } },
    change: { $set: { phase: 'cancelled', cancelRequestedAt: now, finishedAt: now } },
  });
  progress(`suspended ${merchantId}, and cancelled its batches`);
  await sleep(suspensionMs);
  const outside = await openOutside(context);
  try {
    for (let round = 0, removed = 1; removed > 0; round += 1) {
      if (round === mostRounds) throw new Mistakes(['rows are still being written; run it again']);
      const ended = await endWorkflows(context, merchantId);
      removed = ended + (await removeRows(context, { merchantId, outside }));
    }
  } finally {
    await outside.close();
  }
  // The only audit row that remains.
  const stays = update(deps, 'merchants', { _id: merchantId }, { $set: { suspendedAt: now } });
  await transact(audited([{ merchantId }], ['merchants']), [stays], 1);
}

async function endWorkflows({ temporal, progress }: CommandContext, merchantId: string): Promise<number> {
  const { client } = temporal();
  const query = `MerchantId = '${merchantId}' AND ExecutionStatus = 'Running'`;
  let ended = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    // It may have ended already.
    await client.workflow
      .getHandle(workflowId, runId)
      .terminate('the merchant was removed')
      .catch(() => undefined);
    ended += 1;
  }
  if (ended > 0) progress(`ended ${ended} workflows`);
  return ended;
}

async function removeRows(
  context: CommandContext,
  { merchantId, outside }: { merchantId: string; outside: Outside },
): Promise<number> {
  const { deps } = context;
  const show = createProgress(context, 'removed');
  let removed = 0;
  // Members first, since work on a member needs its program.
  const others = merchantCollections.filter((known) => known !== 'merchants' && known !== 'members');
  for (const name of ['members', ...others] as const) {
    let rows = 0;
    for await (const page of merchantRows(deps, { name, merchantId })) {
      await outside.clear(name, page);
      if (name === 'members') await removeUnowned(context, page as { serialNumber?: string }[]);
      rows += await removeAll(deps, name as 'timeline', { _id: { $in: page.map(({ _id }) => _id) } });
      show(name, rows, false);
    }
    show(name, rows, true);
    removed += rows;
  }
  return removed;
}

/** Collections about members whose rows have no `merchantId`. */
async function removeUnowned({ deps }: CommandContext, members: { serialNumber?: string }[]): Promise<void> {
  const serials = members.flatMap(({ serialNumber }) => serialNumber ?? []);
  await removeAll(deps, 'deviceLogs', { serialNumber: { $in: serials } });
}

interface Outside {
  /** Called before the rows are removed. */
  clear: (name: CollectionName, rows: readonly { _id: string }[]) => Promise<void>;
  close: () => Promise<void>;
}

async function openOutside({ deps, config, mailFolder, progress }: CommandContext): Promise<Outside> {
  const wallets = await createWallets({ config, log: deps.log });
  const { google } = wallets;
  if (!google) progress(`objects at Google are cleared when Google can be called: ${wallets.reasons.google}`);
  const mailer = createMailer({ ...config, SMTP_URL: undefined, MAIL_FOLDER: mailFolder });

  return {
    async clear(name, rows) {
      if (name !== 'members' && name !== 'mails') return;
      await mailer?.forget(rows.map(({ _id }) => _id));
      if (name === 'mails') return;
      const ids = (rows as MemberRow[]).filter(({ pass }) => pass.googleSaveUrl !== undefined).map(({ _id }) => _id);
      await writeBulk(deps, owedClears(deps, ids));
      const owed = await deps.collections.googleClears.find({ _id: { $in: ids } }).toArray();
      if (google) await clearObjects(deps, google, owed);
    },
    close: wallets.close,
  };
}
