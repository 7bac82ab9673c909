// Google's batch endpoint: many requests in one multipart/mixed body, and their answers in another one. Answers are
// matched by Content-ID, because Google does not guarantee their order. A request without an answer counts as a
// transient failure.
import { parseJson } from '../../../platform/parseJson.js';
import { errorOfAnswer, GoogleWalletError } from './googleWalletError.rules.js';

export interface BatchPart {
  method: 'POST' | 'PATCH' | 'GET';
  path: string;
  body?: unknown;
}

export interface BatchAnswer {
  status: number;
  body: unknown;
}

/** `boundary` must not occur in the parts. */
export function encodeBatch(boundary: string, parts: BatchPart[]): string {
  const encoded = parts.map((part, index) =>
    [
      `--${boundary}`,
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      `Content-ID: <item-${index}>`,
      '',
      `${part.method} ${part.path} HTTP/1.1`,
      ...(part.body === undefined ? [''] : ['Content-Type: application/json', '', JSON.stringify(part.body)]),
      '',
    ].join('\r\n'),
  );
  return `${encoded.join('')}--${boundary}--\r\n`;
}

/**
 * Returns one entry for each part that was sent, in the same order. Throws GoogleWalletError when the content type has
 * no boundary.
 */
export function decodeBatch(contentType: string, text: string, count: number): (BatchAnswer | GoogleWalletError)[] {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) throw unreadable('the batch answer has no boundary');
  const answers = new Map<number, BatchAnswer>();
  const [, ...sections] = `\n${text.replaceAll('\r\n', '\n')}`.split(`\n--${boundary}`);
  for (const [position, section] of sections.entries()) {
    if (section.startsWith('--')) break;
    const answer = decodePart(section.replace(/^[ \t]*\n/, ''));
    if (answer !== null) answers.set(answer.index ?? position, answer);
  }
  return Array.from(
    { length: count },
    (_, index) => answers.get(index) ?? unreadable('a part of the batch has no answer'),
  );
}

function decodePart(section: string): (BatchAnswer & { index: number | null }) | null {
  const [head = '', ...rest] = section.split('\n\n');
  const [statusLine = ''] = (rest[0] ?? '').split('\n');
  const status = /^HTTP\/\d(?:\.\d)? (\d{3})/.exec(statusLine)?.[1];
  if (status === undefined) return null;
  const id = /^content-id:.*item-(\d+)/im.exec(head)?.[1];
  return {
    index: id === undefined ? null : Number(id),
    status: Number(status),
    body: parseJson(rest.slice(1).join('\n\n')),
  };
}

function unreadable(reason: string): GoogleWalletError {
  return new GoogleWalletError({ kind: 'transient', status: null, reason: 'batch', message: `Google: ${reason}.` });
}

/** Returns null for a 2xx answer. */
export function errorOfPart(answer: BatchAnswer | GoogleWalletError): GoogleWalletError | null {
  if (answer instanceof GoogleWalletError) return answer;
  return answer.status >= 200 && answer.status < 300 ? null : errorOfAnswer(answer.status, answer.body);
}
