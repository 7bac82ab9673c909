// Helpers for imports: CSV texts, uploads as a form or as a plain body, and waiting for the batch.

import { until } from '../checks/until.js';
import type { Answer, Call, TestMerchant } from './merchant.js';

export interface ImportForm {
  programId?: string | undefined;
  file: string | Uint8Array<ArrayBuffer>;
  type?: string;
  name?: string;
  /** Further fields of the form. */
  fields?: Record<string, string>;
  /** Puts the fields before the file, as large imports require. */
  fieldsFirst?: boolean;
}

export function importForm({
  programId,
  file,
  type = 'text/csv',
  name = 'members.csv',
  fields = {},
  fieldsFirst,
}: ImportForm): FormData {
  const form = new FormData();
  const content = new Blob([file], { type });
  if (!fieldsFirst) form.append('file', content, name);
  const all = { ...(programId !== undefined && { programId }), ...fields };
  for (const [field, value] of Object.entries(all)) form.append(field, value);
  if (fieldsFirst) form.append('file', content, name);
  return form;
}

export type ImportCall = Omit<Call, 'method' | 'body'>;

export function sendImportOnce(merchant: TestMerchant, form: ImportForm, call: ImportCall = {}): Promise<Answer> {
  return merchant.call('/merchants/me/members/import', { ...call, body: importForm(form) });
}

/** Sends the same import again while the answer is 503, as clients do: the worker of a slow machine may be late. */
export function sendImport(merchant: TestMerchant, form: ImportForm, call: ImportCall = {}): Promise<Answer> {
  let last: Answer | undefined;
  return until(
    async () => {
      last = await sendImportOnce(merchant, form, call);
      return last.status !== 503 && last;
    },
    { seen: () => last?.text },
  );
}

export const csvHeader = 'firstName,lastName,email,phone,initialPoints';

/** CSV with one person in each row; all emails are different. */
export function csvOf(rows: number, prefix = 'person'): string {
  const lines = Array.from({ length: rows }, (_, index) => {
    const phone = `+49 170 ${String(1_000_000 + index)}`;
    return `Ada${index % 700},Lovelace${index % 1_300},${prefix}.${index}@example.com,${phone},${index % 50}`;
  });
  return `${[csvHeader, ...lines].join('\r\n')}\r\n`;
}

/** Waits until the batch is finished and returns it. */
export function batchEnd(merchant: TestMerchant, batchId: string, withinMs?: number): Promise<Answer['body']> {
  return until(
    async () => {
      const { body } = await merchant.call(`/merchants/me/batches/${batchId}`);
      return body.data?.finishedAt ? body.data : undefined;
    },
    withinMs === undefined ? {} : { withinMs },
  );
}
