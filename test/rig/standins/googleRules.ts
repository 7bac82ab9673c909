// The behaviour of Google's wallet API for classes and objects by its published rules
// (docs/protocols/google-wallet.md), without transport and faults. It rejects requests for every documented reason, so
// that the service meets those errors in tests.
import { badField, type Json, merge, sameJson } from './googleResources.js';

export interface GoogleAnswer {
  status: number;
  body: unknown;
}

/** A notice on the lock screen of a customer's phone. */
export interface GoogleNotice {
  at: number;
  kind: 'message' | 'update';
  text: string;
}

export interface GoogleRules {
  handle: (method: string, path: string, body: unknown, query?: URLSearchParams) => GoogleAnswer;
  classes: Map<string, Json>;
  objects: Map<string, Json>;
  notices: (objectId: string) => GoogleNotice[];
  /** Approves a class, as Google's reviewer does. */
  approve: (classId: string) => void;
  setHasUsers: (objectId: string, hasUsers: boolean) => void;
  /** Selects objects whose insert is always refused. */
  refuses: (object: Json) => boolean;
  /** Called when an object was updated. */
  onUpdate: (objectId: string) => void;
}

const day = 24 * 3_600_000;
const notificationsPerDay = 3;
const maxMessages = 10;

export function createGoogleRules(issuerId: string, now: () => number = Date.now): GoogleRules {
  const classes = new Map<string, Json>();
  const objects = new Map<string, Json>();
  const notices = new Map<string, GoogleNotice[]>();
  const spent = new Map<string, number[]>();

  function insert(kind: 'class' | 'object', body: Json): GoogleAnswer {
    const store = kind === 'class' ? classes : objects;
    const id = String(body.id ?? '');
    const refusal = checkId(id) ?? badResource(kind, merge({}, body)) ?? badReview(body);
    if (refusal !== null) return refusal;
    if (store.has(id)) return fail(409, 'existingResource', `Wallet Object ${id} already exists.`);
    if (kind === 'object' && rules.refuses(body)) return fail(400, 'invalid', 'As the test asked.');
    if (kind === 'object' && !classes.has(String(body.classId))) {
      return fail(404, 'classNotFound', `Wallet Object Class ${String(body.classId)} not found.`);
    }
    const { notifyPreference: _, ...kept } = merge({}, body);
    store.set(id, kind === 'class' ? { ...kept } : { ...kept, hasUsers: false, version: '1' });
    return { status: 200, body: store.get(id) };
  }

  function change(kind: 'class' | 'object', id: string, body: Json, isPatch: boolean): GoogleAnswer {
    const store = kind === 'class' ? classes : objects;
    const present = store.get(id);
    const refusal = checkId(id);
    if (refusal !== null) return refusal;
    if (present === undefined) return notFound(kind, id);
    const { notifyPreference, hasUsers: _, ...given } = body;
    const next: Json = { ...(isPatch ? merge(present, given) : given), id };
    const wrong = badResource(kind, next) ?? badReview(given);
    if (wrong !== null) return wrong;
    if (kind === 'class' && present.reviewStatus === 'APPROVED' && given.reviewStatus !== 'UNDER_REVIEW') {
      return fail(400, 'invalid', 'An approved class takes changes only with reviewStatus UNDER_REVIEW.');
    }
    if (kind === 'object') {
      const notifies = notifyPreference === 'NOTIFY_ON_UPDATE' && !sameJson(next.loyaltyPoints, present.loyaltyPoints);
      if (notifies && !spend(`${id} update`)) return quotaExceeded(`updating ${id}`);
      Object.assign(next, { hasUsers: present.hasUsers, version: String(Number(present.version) + 1) });
      if (notifies) notice(present, 'update', 'Your points have changed');
    }
    store.set(id, next);
    if (kind === 'object') rules.onUpdate(id);
    return { status: 200, body: next };
  }

  /** The page token is the index of the page's first object. */
  function list(query: URLSearchParams): GoogleAnswer {
    const classId = query.get('classId') ?? '';
    if (!classes.has(classId)) return notFound('class', classId);
    const found = [...objects.values()].filter((object) => object.classId === classId);
    const from = Number(query.get('token') ?? 0);
    const to = from + Number(query.get('maxResults') ?? found.length);
    const pagination = { resultsPerPage: to - from, ...(to < found.length && { nextPageToken: String(to) }) };
    return { status: 200, body: { resources: found.slice(from, to), pagination } };
  }

  function addMessage(id: string, body: Json): GoogleAnswer {
    const present = objects.get(id);
    if (present === undefined) return notFound('object', id);
    const message = asJson(body.message);
    const { header, body: text, messageType = 'TEXT' } = message;
    if (typeof header !== 'string' || typeof text !== 'string' || header === '' || text === '') {
      return fail(400, 'invalid', 'A message has a header and a body.');
    }
    if (messageType !== 'TEXT' && messageType !== 'TEXT_AND_NOTIFY')
      return fail(400, 'invalid', 'Invalid messageType.');
    const messages = Array.isArray(present.messages) ? present.messages : [];
    if (messages.length >= maxMessages) return fail(400, 'invalid', 'Too many messages.');
    if (messageType === 'TEXT_AND_NOTIFY') {
      if (!spend(`${id} message`)) return quotaExceeded(`adding TEXT_AND_NOTIFY message to ${id}`);
      notice(present, 'message', text);
    }
    const next = { ...present, messages: [...messages, message] };
    objects.set(id, next);
    return { status: 200, body: { resource: next } };
  }

  function spend(what: string): boolean {
    const recent = (spent.get(what) ?? []).filter((at) => at > now() - day);
    if (recent.length >= notificationsPerDay) return false;
    spent.set(what, [...recent, now()]);
    return true;
  }

  function notice(object: Json, kind: GoogleNotice['kind'], text: string): void {
    if (object.hasUsers !== true) return;
    const id = String(object.id);
    notices.set(id, [...(notices.get(id) ?? []), { at: now(), kind, text }]);
  }

  function checkId(id: string): GoogleAnswer | null {
    if (!/^[\w-]+\.[\w.-]+$/.test(id)) return fail(400, 'invalid', `Invalid resource ID: ${id}.`);
    return id.startsWith(`${issuerId}.`) ? null : fail(403, 'permissionDenied', 'Permission Denied');
  }

  const rules: GoogleRules = {
    refuses: () => false,
    onUpdate: () => undefined,
    classes,
    objects,
    notices: (objectId) => notices.get(objectId) ?? [],
    approve: (classId) => classes.set(classId, { ...classes.get(classId), reviewStatus: 'APPROVED' }),
    setHasUsers(objectId, hasUsers) {
      const object = objects.get(objectId);
      if (object === undefined) throw new Error(`Google: ${objectId} was never inserted.`);
      objects.set(objectId, { ...object, hasUsers });
    },
    handle(method, path, body, query = new URLSearchParams()) {
      const match = /^\/walletobjects\/v1\/loyalty(class|object)(?:\/([^/]+?))?(\/addmessage)?$/i.exec(path);
      const kind = match?.[1]?.toLowerCase() === 'class' ? 'class' : 'object';
      const id = match?.[2] === undefined ? '' : decodeURIComponent(match[2]);
      if (match === null) return fail(404, 'notFound', 'No such method.');
      if (method === 'POST' && match[3] !== undefined && kind === 'object') return addMessage(id, asJson(body));
      if (method === 'POST' && id === '') return insert(kind, asJson(body));
      if (method === 'PATCH' || method === 'PUT') return change(kind, id, asJson(body), method === 'PATCH');
      if (method === 'GET' && id === '' && kind === 'object') return list(query);
      if (method !== 'GET' || id === '') return fail(404, 'notFound', 'No such method.');
      const found = (kind === 'class' ? classes : objects).get(id);
      return checkId(id) ?? (found === undefined ? notFound(kind, id) : { status: 200, body: found });
    },
  };
  return rules;
}

function badResource(kind: 'class' | 'object', resource: Json): GoogleAnswer | null {
  const problem = badField(kind, resource);
  return problem === null ? null : fail(400, 'invalid', problem);
}

/** Only Google may set APPROVED. */
function badReview(given: Json): GoogleAnswer | null {
  return given.reviewStatus === 'APPROVED' ? fail(400, 'invalid', 'Invalid review status.') : null;
}

function notFound(kind: 'class' | 'object', id: string): GoogleAnswer {
  if (kind === 'class') return fail(404, 'classNotFound', `Wallet Object Class ${id} not found.`);
  return fail(404, 'resourceNotFound', `Wallet Object ${id} not found.`);
}

function quotaExceeded(doing: string): GoogleAnswer {
  return fail(403, 'quotaExceeded', `Quota exceeded when ${doing}.`);
}

export function fail(code: number, reason: string, message: string): GoogleAnswer {
  return { status: code, body: { error: { code, message, errors: [{ message, domain: 'walletobjects', reason }] } } };
}

function asJson(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
