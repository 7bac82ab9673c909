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

/** Sends the same import up to twice again when it is refused with 503, as clients do: a worker may be late. */
export async function sendImport(merchant: TestMerchant, form: ImportForm, call: ImportCall = {}): Promise<Answer> {
  for (let times = 1; times < 3; times += 1) {
    const answer = await sendImportOnce(merchant, form, call);
    if (answer.status !== 503) return answer;
    console.log(`no worker has taken an import, which is sent again: ${answer.text}`);
  }
  return sendImportOnce(merchant, form, call);
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
