// A merchant of its own in a running test service: programs, keys, tokens, and a function that calls the
// API.
import { SignJWT } from 'jose';
import { newMemberRows } from '../../../activities/members/newMember.rules.js';
import type { Deps } from '../../../platform/deps.js';
import { newApiKey } from '../../../schemas/access/apiKeys.schema.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { type Program, programFile } from '../../../schemas/programs/programs.schema.js';
import { newId, newToken } from '../../../schemas/shared/ids.js';
import { mustConform } from '../checks/conformance.js';
import { noteSeen } from '../checks/seenOperations.js';
import { jwtSecret, type TestService } from './service.js';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever came, and the test says what it must be
  body: any;
  text: string;
}

/** The status of an answer and its error code, or `ok`. */
export const outcome = ({ status, body }: Answer): [number, string] => [status, body.error?.code ?? 'ok'];

export interface Call {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is a string or bytes. */
  body?: unknown;
  /** A credential other than the merchant's API key; null for none. */
  credential?: Record<string, string> | null;
}

export interface TestMerchant {
  id: string;
  apiKey: string;
  /** Throws when the response does not match the OpenAPI document. */
  call: (path: string, call?: Call) => Promise<Answer>;
  token: (claims?: Record<string, unknown>) => Promise<string>;
  program: (fields?: Record<string, unknown>) => Promise<Program>;
  enroll: (fields?: Record<string, unknown>) => Promise<Answer['body']>;
}

export async function addKey(deps: Deps, at: { merchantId: string; roleIds: string[] }): Promise<string> {
  const { key, keyPrefix, hash } = newApiKey();
  await deps.collections.apiKeys.insertOne({
    _id: newId(),
    merchantId: at.merchantId,
    hash,
    keyPrefix,
    name: 'test key',
    roleIds: at.roleIds,
    createdBy: 'tester',
    createdAt: new Date(),
  });
  return key;
}

/** Inserts active members without names directly into the database: no passes, no events. */
export async function manyMembers(
  deps: Deps,
  { program, count }: { program: Program; count: number },
): Promise<MemberRow[]> {
  const made = Array.from({ length: count }, () =>
    newMemberRows(deps, {
      program,
      person: {},
      source: 'import',
      attribution: {},
      actor: { type: 'import', id: 'test' },
    }),
  );
  const members = made.map((rows) => rows.member);
  await deps.collections.members.insertMany(members);
  return members;
}

export async function aMerchant(
  service: TestService,
  { roleIds = ['integration'] }: { roleIds?: string[] } = {},
): Promise<TestMerchant> {
  const id = `merchant-${newToken(6)}`;
  const apiKey = await addKey(service.deps, { merchantId: id, roleIds });
  let ownProgram: Program | undefined;

  const call: TestMerchant['call'] = async (
    path,
    { method, headers = {}, body, credential = { 'X-API-Key': apiKey } } = {},
  ) => {
    const raw =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData;
    const request = {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      url: `${path.startsWith('/api/') || path.startsWith('http') ? '' : service.baseUrl}${path}`,
    };
    const response = await fetch(request.url, {
      method: request.method,
      headers: { ...(!raw && { 'Content-Type': 'application/json' }), ...credential, ...headers },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text };
    const operation = mustConform({ ...request, requestBody: raw ? undefined : body, ...answer });
    if (operation) noteSeen(operation);
    const json = response.headers.get('content-type')?.includes('json');
    return { ...answer, body: json ? JSON.parse(text) : undefined };
  };

  const program: TestMerchant['program'] = async (fields = {}) => {
    const _id = `program-${newToken(6)}`;
    const parsed = programFile.parse({
      _id,
      slug: _id
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/-+$/, 'x'),
      name: 'Test program',
      style: 'points',
      fields: { primaryLabel: 'POINTS' },
      goal: 100,
      ...fields,
    });
    const row: Program = { ...parsed, merchantId: id };
    await service.deps.collections.programs.insertOne(row);
    await service.deps.collections.slugs.insertOne({ _id: row.slug, merchantId: id, programId: row._id });
    return row;
  };

  return {
    id,
    apiKey,
    call,
    program,
    token: (claims = {}) =>
      new SignJWT({ sub: 'user-1', merchantId: id, roleIds: ['owner'], ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer('loyalty-console')
        .setAudience('loyalty-pass-service')
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(new TextEncoder().encode(jwtSecret)),
    async enroll(fields = {}) {
      ownProgram ??= await program();
      const { body } = await call('/merchants/me/members', { body: { programId: ownProgram._id, ...fields } });
      return body.data;
    },
  };
}
