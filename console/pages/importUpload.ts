// Opens the file of an import in the browser, and sends it.
import type { components } from '../../sdk/index.js';
import { apiUrl, failureOf, noteCall, unanswered } from '../api.js';
import { parseCsv } from '../csv.js';
import { language } from '../language.js';
import { plainRows, titlesOf } from './importFile.js';

type Batch = components['schemas']['Batch'];
export type DryRunAnswer = components['schemas']['ImportDryRun'];

interface Upload {
  programId: string;
  file: Blob;
  fileName: string;
  charset: string;
  dryRun: boolean;
  quiet: boolean;
  repairs?: string;
  /** Of an import that may be sent again, because its answer was lost. */
  key?: string;
  mapping: Record<string, string | null>;
}

/** XMLHttpRequest, because fetch does not report upload progress. Throws LoyaltyError. */
export function sendFile(
  { programId, file, fileName, charset, dryRun, quiet, repairs, key, mapping }: Upload,
  onProgress: (percent: number) => void,
): Promise<Batch | DryRunAnswer> {
  const query = new URLSearchParams({ programId });
  if (dryRun) query.set('dryRun', 'true');
  if (quiet) query.set('quiet', 'true');
  if (repairs !== undefined) query.set('repairs', repairs);
  if (Object.keys(mapping).length > 0) query.set('mapping', JSON.stringify(mapping));
  const url = `${apiUrl}/merchants/me/imports?${query}`;
  const keyed: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
  const type = charset === 'utf-8' ? 'text/csv' : `text/csv; charset=${charset}`;
  const since = performance.now();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const note = (status: number) =>
      noteCall(
        { method: 'POST', url, headers: new Headers({ 'Content-Type': type, ...keyed }) },
        { file: fileName },
        { status, ms: performance.now() - since },
      );
    request.upload.onprogress = ({ loaded, total }) => onProgress((100 * loaded) / Math.max(total, 1));
    request.onload = () => {
      note(request.status);
      const body = JSON.parse(request.responseText || '{}');
      if (request.status === 202 || request.status === 200) resolve(body.data);
      else reject(failureOf(request.status, body));
    };
    request.onerror = () => {
      note(0);
      reject(unanswered());
    };
    request.open('POST', url);
    request.setRequestHeader('Content-Type', type);
    request.setRequestHeader('Accept-Language', language);
    for (const [name, value] of Object.entries(keyed)) request.setRequestHeader(name, value);
    request.send(file);
  });
}

export interface Chosen {
  /** What tells this file from others. */
  id: string;
  name: string;
  file: Blob;
  titles: string[];
  charset: string;
}

const headBytes = 65_536;

/** The service detects UTF-8 and UTF-16; other files most likely come from older spreadsheets. */
export async function openFile(file: Blob, name: string): Promise<Chosen> {
  const bytes = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  const wide = { fffe: 'utf-16le', feff: 'utf-16be' }[[...bytes.slice(0, 2)].map((byte) => byte.toString(16)).join('')];
  const decode = (charset: string, fatal = false) =>
    new TextDecoder(charset, { fatal }).decode(bytes, { stream: true });
  let [charset, text] = ['utf-8', ''];
  try {
    text = decode(wide ?? 'utf-8', true);
  } catch {
    charset = 'windows-1252';
    text = decode(charset);
  }
  return {
    id: `${name} ${file.size} ${file instanceof File ? file.lastModified : ''}`,
    name,
    file,
    charset,
    titles: titlesOf(plainRows(parseCsv(text).slice(0, 1))[0] ?? []),
  };
}

/** Of a larger file the dry run shows no cells. */
const maxShownBytes = 10_000_000;

/** A dry run together with the rows of its file; no rows of a file that is too large to be shown. */
export type DryRunShown = DryRunAnswer & { rows: string[][] };

export async function withRows(file: Blob, answer: DryRunAnswer): Promise<DryRunShown> {
  const { failures, leftOut = [] } = answer;
  const { charset, delimiter } = answer.file;
  if (failures.length + leftOut.length === 0 || file.size > maxShownBytes) return { ...answer, rows: [] };
  return { ...answer, rows: plainRows(parseCsv(new TextDecoder(charset).decode(await file.arrayBuffer()), delimiter)) };
}
