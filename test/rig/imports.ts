// Files to import and what comes of them: CSV texts, uploads as a form or as a body, and the batch behind them.
import type { Answer, TestMerchant } from './merchant.js';
import { until } from './service.js';

export interface ImportForm {
  programId?: string | undefined;
  file: string | Uint8Array<ArrayBuffer>;
  type?: string;
  name?: string;
  /** Before the file, as the large import wants it. */
  programFirst?: boolean;
}

export function importForm({
  programId,
  file,
  type = 'text/csv',
  name = 'members.csv',
  programFirst,
}: ImportForm): FormData {
  const form = new FormData();
  if (programFirst && programId !== undefined) form.append('programId', programId);
  form.append('file', new Blob([file], { type }), name);
  if (!programFirst && programId !== undefined) form.append('programId', programId);
  return form;
}

export function sendImport(merchant: TestMerchant, form: ImportForm): Promise<Answer> {
  return merchant.call('/merchants/me/members/import', { body: importForm(form) });
}

export const csvHeader = 'firstName,lastName,email,phone,initialPoints';

/** Rows of people who differ from each other in their email. */
export function csvOf(rows: number, prefix = 'person'): string {
  const lines = Array.from({ length: rows }, (_, index) => {
    const phone = `+49 170 ${String(1_000_000 + index)}`;
    return `Ada${index % 700},Lovelace${index % 1_300},${prefix}.${index}@example.com,${phone},${index % 50}`;
  });
  return `${[csvHeader, ...lines].join('\r\n')}\r\n`;
}

/** The batch once it is over. */
export function batchEnd(merchant: TestMerchant, batchId: string, withinMs?: number): Promise<Answer['body']> {
  return until(async () => {
    const { body } = await merchant.call(`/merchants/me/batches/${batchId}`);
    return body.data?.finishedAt ? body.data : undefined;
  }, withinMs);
}
