// The designer's fields as a table: sections of fields by their path in the program.

import { at, type Json, withAt } from '../merge.js';
import { Button, Checkbox, Choices, Select, TextInput } from '../parts/form.js';
import { ImageField } from '../parts/image.js';
import { texts } from '../texts.js';

const said = texts.design;

interface ListColumn {
  key: string;
  label: string;
  kind: 'text' | 'integer' | 'lines' | 'flag';
}

export type Field = { path: string; label: string; hint?: string; shown?: (program: Json) => boolean } & (
  | { kind: 'text' | 'lines' | 'integer' | 'color' | 'flag' | 'url' }
  | { kind: 'select'; options: readonly (readonly [string, string])[] }
  | { kind: 'choices'; options: readonly (readonly [string, string])[] }
  | { kind: 'image'; width: number; height: number; how: 'cover' | 'contain' }
  | { kind: 'list'; columns: readonly ListColumn[]; fresh: (count: number) => Json }
  | { kind: 'rule'; rule: Json }
);

const isTiered = (program: Json) => program.style === 'tiered';
const isStamps = (program: Json) => program.style === 'stamps';
const hasEarn = (program: Json) => program.earn !== undefined;
const earnsByAmount = (program: Json) => hasEarn(program) && !isStamps(program);
const currency = 'EUR';

export const sections: readonly { title: string; fields: readonly Field[] }[] = [
  {
    title: said.basics,
    fields: [
      { path: 'name', label: said.name, kind: 'text' },
      { path: 'slug', label: said.slug, hint: said.slugHint, kind: 'text' },
      { path: 'style', label: said.style, kind: 'select', options: texts.programs.styles },
      { path: 'fields.primaryLabel', label: said.unit, hint: said.unitHint, kind: 'text' },
      { path: 'rewardName', label: said.goalReward, hint: said.goalRewardHint, kind: 'text' },
      { path: 'goal', label: said.goal, hint: said.goalHint, kind: 'integer' },
      { path: 'language', label: said.language, kind: 'select', options: said.languages },
      { path: 'pushMessages', label: said.pushMessages, kind: 'flag' },
    ],
  },
  {
    title: said.look,
    fields: [
      { path: 'passTemplate.colors.background', label: said.background, kind: 'color' },
      { path: 'passTemplate.colors.foreground', label: said.foreground, kind: 'color' },
      { path: 'passTemplate.colors.label', label: said.labels, kind: 'color' },
      { path: 'passTemplate.logoText', label: said.logoText, kind: 'text' },
      { path: 'passTemplate.organizationName', label: said.issuer, hint: said.issuerHint, kind: 'text' },
      {
        path: 'passTemplate.images.logo',
        label: said.logo,
        hint: said.logoHint,
        ...{ kind: 'image', width: 480, height: 150, how: 'contain' },
      },
      {
        path: 'passTemplate.images.icon',
        label: said.icon,
        hint: said.iconHint,
        ...{ kind: 'image', width: 180, height: 180, how: 'cover' },
      },
      {
        path: 'passTemplate.images.strip',
        label: said.strip,
        hint: said.stripHint,
        ...{ kind: 'image', width: 1_125, height: 432, how: 'cover' },
      },
      { path: 'passTemplate.barcode', label: said.barcode, kind: 'select', options: said.barcodes },
      {
        path: 'passTemplate.backFields',
        label: said.back,
        kind: 'list',
        columns: [
          { key: 'label', label: said.backLabel, kind: 'text' },
          { key: 'value', label: said.backText, kind: 'lines' },
        ],
        fresh: () => ({ key: crypto.randomUUID().slice(0, 8), label: '', value: '' }),
      },
    ],
  },
  {
    title: said.rewards,
    fields: [
      {
        path: 'rewards',
        label: said.moreRewards,
        kind: 'list',
        columns: [
          { key: 'name', label: said.reward, kind: 'text' },
          { key: 'cost', label: said.cost, kind: 'integer' },
          { key: 'active', label: said.active, kind: 'flag' },
        ],
        fresh: () => ({ id: crypto.randomUUID().slice(0, 8), name: '', cost: 1, active: true }),
      },
      {
        path: 'tiers',
        label: said.tiers,
        shown: isTiered,
        kind: 'list',
        columns: [
          { key: 'name', label: said.tier, kind: 'text' },
          { key: 'threshold', label: said.threshold, kind: 'integer' },
        ],
        fresh: () => ({ name: '', threshold: 0 }),
      },
      { path: 'basis', label: said.basis, shown: isTiered, kind: 'select', options: said.bases },
    ],
  },
  {
    title: said.earning,
    fields: [
      {
        path: 'earn',
        label: said.earnRule,
        shown: (program) => !isStamps(program),
        ...{ kind: 'rule', rule: { per: 100, points: 1, currency } },
      },
      { path: 'earn', label: said.earnRule, shown: isStamps, kind: 'rule', rule: {} },
      { path: 'earn.per', label: said.per, hint: said.perHint, shown: earnsByAmount, kind: 'integer' },
      { path: 'earn.points', label: said.points, shown: earnsByAmount, kind: 'integer' },
      { path: 'earn.currency', label: said.currency, shown: earnsByAmount, kind: 'text' },
      { path: 'earn.dailyLimit', label: said.dailyLimit, shown: hasEarn, kind: 'integer' },
      { path: 'earn.cooldownSeconds', label: said.cooldown, shown: hasEarn, kind: 'integer' },
    ],
  },
  {
    title: said.expiry,
    fields: [
      { path: 'expiry.afterDays', label: said.afterDays, hint: said.afterDaysHint, kind: 'integer' },
      { path: 'expiry.inactiveDays', label: said.inactiveDays, hint: said.inactiveDaysHint, kind: 'integer' },
      { path: 'timeZone', label: said.timeZone, hint: said.timeZoneHint, kind: 'text' },
    ],
  },
  {
    title: said.enrollment,
    fields: [
      { path: 'enrollment.open', label: said.isOpen, kind: 'flag' },
      { path: 'enrollment.fields', label: said.asks, kind: 'choices', options: said.askable },
      { path: 'enrollment.privacyUrl', label: said.privacyUrl, kind: 'url' },
      { path: 'enrollment.consentText', label: said.consent, hint: said.consentHint, kind: 'lines' },
    ],
  },
];

/** The paths of all controls, to find mistakes without a control. */
export const fieldPaths: readonly string[] = sections.flatMap(({ fields }) => fields.map(({ path }) => path));

interface EditProps {
  field: Field;
  program: Json;
  onChange: (program: Json) => void;
}

const asInteger = (text: string): number | string | undefined => {
  if (text.trim() === '') return undefined;
  return /^-?\d+$/.test(text.trim()) ? Number(text) : text;
};

/** An empty object that is a rule stays; any other is removed with its last field. */
const pruned = (program: Json, path: string): Json => {
  const [parent = '', ...rest] = path.split('.');
  const inner = program[parent];
  const isEmpty = rest.length > 0 && inner !== null && typeof inner === 'object' && Object.keys(inner).length === 0;
  return isEmpty && parent === 'expiry' ? withAt(program, parent, undefined) : program;
};

export function Edit({ field, program, onChange }: EditProps) {
  const { path, label, hint } = field;
  if (field.shown && !field.shown(program)) return null;
  const value = at(program, path);
  const set = (next: unknown) => onChange(pruned(withAt(program, path, next), path));
  const common = { name: path, label, ...(hint !== undefined && { hint }) };
  switch (field.kind) {
    case 'flag':
      return <Checkbox label={label} isSelected={value === true} onChange={set} />;
    case 'rule':
      return (
        <Checkbox label={label} isSelected={value !== undefined} onChange={(on) => set(on ? field.rule : undefined)} />
      );
    case 'select':
      return (
        <Select
          {...common}
          value={String(value ?? field.options[0]?.[0])}
          options={field.options}
          onChange={(next) => set(next || undefined)}
        />
      );
    case 'choices':
      return <Choices {...common} value={(value ?? []) as string[]} options={field.options} onChange={set} />;
    case 'image':
      return (
        <ImageField
          {...common}
          hint={hint ?? ''}
          fit={field}
          value={pictureOf(value)}
          onChange={(base64) => set(base64)}
        />
      );
    case 'list':
      return <ListField field={field} rows={(value ?? []) as Json[]} onChange={set} />;
    case 'integer':
      return (
        <TextInput
          {...common}
          inputMode="numeric"
          value={value === undefined ? '' : String(value)}
          onChange={(text) => set(asInteger(text))}
        />
      );
    case 'lines':
      return (
        <TextInput {...common} lines={4} value={String(value ?? '')} onChange={(text) => set(text || undefined)} />
      );
    default:
      return (
        <TextInput
          {...common}
          type={field.kind}
          value={String(value ?? '')}
          onChange={(text) => set(text === '' && path !== 'name' && path !== 'slug' ? undefined : text)}
        />
      );
  }
}

/** The largest scale of an image. */
function pictureOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const scales = (value ?? {}) as Record<string, string>;
  return scales['3x'] ?? scales['2x'] ?? scales['1x'];
}

function ListField({
  field,
  rows,
  onChange,
}: {
  field: Extract<Field, { kind: 'list' }>;
  rows: readonly Json[];
  onChange: (rows: Json[] | undefined) => void;
}) {
  const { path, label, columns, fresh } = field;
  const put = (index: number, key: string, next: unknown) =>
    onChange(rows.map((row, other) => (other === index ? withAt(row, key, next) : row)));
  return (
    <fieldset className="list">
      <legend>{label}</legend>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: findings name the rows by their number
        <div className="list-row" key={index}>
          {columns.map((column) => {
            const value = row[column.key];
            const common = { name: `${path}.${index}.${column.key}`, label: column.label };
            if (column.kind === 'flag')
              return (
                <Checkbox
                  key={column.key}
                  label={column.label}
                  isSelected={value === true}
                  onChange={(on) => put(index, column.key, on)}
                />
              );
            return (
              <TextInput
                key={column.key}
                {...common}
                {...(column.kind === 'lines' && { lines: 2 })}
                value={value === undefined ? '' : String(value)}
                onChange={(text) => put(index, column.key, column.kind === 'integer' ? asInteger(text) : text)}
              />
            );
          })}
          <Button
            kind="link"
            aria-label={said.removeRow(label, index + 1)}
            onPress={() => {
              const left = rows.filter((_, other) => other !== index);
              onChange(left.length > 0 || path === 'passTemplate.backFields' ? left : undefined);
            }}
          >
            {said.remove}
          </Button>
        </div>
      ))}
      <div>
        <Button onPress={() => onChange([...rows, fresh(rows.length)])}>{said.add(label)}</Button>
      </div>
    </fieldset>
  );
}
