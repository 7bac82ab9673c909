// The fields that the audit and the versions of a card name, by their labels and the words of their values.

import { type Field, sections } from './pages/designSections.js';
import { fieldNames, languageName, texts, weekdayTitle } from './texts.js';

type Words = Readonly<Record<string, string | undefined>>;

interface Named {
  /** Undefined for a field that no screen names. */
  label?: string | undefined;
  words?: Words;
  /** By what a number is divided, such as 1000 for milliseconds that are shown as seconds. */
  divisor?: number;
}

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const labelled = (label: string, part: string | undefined): string => (part ? `${label}: ${part}` : label);

/** A part of a field that holds several: a row of a list, a language, a weekday. */
function partOf(field: Field, [first = '', second = '']: string[]): Named {
  if (field.kind === 'list') {
    const column = field.columns.find(({ key }) => key === second)?.label;
    return { label: labelled(`${field.label} ${Number(first) + 1}`, column) };
  }
  if (field.kind === 'locales') return { label: labelled(field.label, languageName(first)) };
  if (field.kind === 'week') return { label: labelled(field.label, weekdayTitle(weekdays.indexOf(first))) };
  return { label: field.label, ...('options' in field && { words: Object.fromEntries(field.options) }) };
}

function programField(path: string): Named {
  const fields = sections.flatMap((section) => section.fields);
  const [own] = fields.filter((field) => path === field.path || path.startsWith(`${field.path}.`)).reverse();
  if (own) return partOf(own, path.slice(own.path.length + 1).split('.'));
  // Such as `enrollment`, of which the screen has the parts.
  const section = sections.find((one) => one.fields.some((field) => field.path.startsWith(`${path}.`)));
  return { label: section?.title };
}

const { webhooks, readers, people, members, member } = texts;

const others: Readonly<Record<string, Readonly<Record<string, Named>>>> = {
  webhook: {
    name: { label: webhooks.name },
    description: { label: texts.design.description },
    url: { label: webhooks.url },
    events: { label: webhooks.events, words: { '*': webhooks.allEvents } },
    enabled: { label: texts.design.active },
    timeoutMs: { label: webhooks.timeoutSeconds, divisor: 1_000 },
    secret: { label: webhooks.secretTitle },
    retryPolicy: { label: webhooks.attempts },
    'retryPolicy.maxAttempts': { label: webhooks.attempts },
    'retryPolicy.backoffMs': { label: webhooks.backoffSeconds, divisor: 1_000 },
    'retryPolicy.factor': { label: webhooks.factor },
    since: { label: webhooks.since },
    until: { label: webhooks.until },
    only: { label: webhooks.only, words: webhooks.onlys },
  },
  reader: {
    name: { label: readers.name },
    location: { label: readers.place },
    programIds: { label: readers.programs },
    lookupBy: { label: readers.lookupBy, words: readers.lookups },
  },
  user: { email: { label: people.email }, roleIds: { label: people.role, words: people.builtIn } },
  'api-key': {
    name: { label: texts.apiKeys.name },
    roleIds: { label: texts.apiKeys.roles },
    expiresAt: { label: texts.apiKeys.expires },
  },
  member: { status: { label: members.status, words: members.statuses }, reason: { label: member.reason } },
  campaign: { message: { label: texts.campaigns.message } },
  automatic: {
    audience: { label: texts.campaigns.who, words: texts.members.audiences },
    on: { label: texts.campaigns.on },
    message: { label: texts.campaigns.text },
    hour: { label: texts.campaigns.hour },
  },
};

/** `kind` is the first word of an action, such as `program`. */
export function changedField(kind: string, path: string): Named {
  if (kind === 'program') return programField(path);
  return others[kind]?.[path] ?? { label: fieldNames[path] };
}
