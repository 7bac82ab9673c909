// The control of each field of the designer.
import { useState } from 'react';
import { at, type Json, withAt } from '../merge.js';
import { Button, Checkbox, Choices, localTime, Select, TextInput, useFindings } from '../parts/form.js';
import { ImageField } from '../parts/image.js';
import { type Hours, Week } from '../parts/week.js';
import { ZoneInput } from '../parts/zone.js';
import { languageName, languageTitle, texts } from '../texts.js';
import { wholeNumber } from '../typed.js';
import type { Field } from './designSections.js';

const said = texts.design;

/** The languages that phones are set to. */
const translatable = [
  ...['ar', 'bg', 'ca', 'cs', 'da', 'de', 'el', 'en', 'es', 'et', 'fi', 'fr', 'he', 'hi', 'hr', 'hu', 'id', 'it', 'ja'],
  ...['ko', 'lt', 'lv', 'ms', 'nb', 'nl', 'pl', 'pt', 'ro', 'ru', 'sk', 'sl', 'sr', 'sv', 'th', 'tr', 'uk', 'vi'],
  ...['zh-Hans', 'zh-Hant'],
];

const asInteger = (text: string): number | string | undefined => {
  if (text.trim() === '') return undefined;
  return wholeNumber(text) ?? text;
};

/** An empty object that is a rule stays; any other is removed with its last field. */
const pruned = (program: Json, path: string): Json => {
  const [parent = '', ...rest] = path.split('.');
  const inner = program[parent];
  const isEmpty = rest.length > 0 && inner !== null && typeof inner === 'object' && Object.keys(inner).length === 0;
  return isEmpty && parent === 'expiry' ? withAt(program, parent, undefined) : program;
};

export function Edit({ field, program, onChange }: { field: Field; program: Json; onChange: (program: Json) => void }) {
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
          ground={String(at(program, 'passTemplate.colors.background') ?? '')}
          value={pictureOf(value)}
          onChange={set}
        />
      );
    case 'moment':
      return (
        <TextInput
          {...common}
          type="datetime-local"
          value={typeof value === 'string' ? localTime(new Date(value)) : ''}
          onChange={(text) => set(text === '' ? undefined : new Date(text).toISOString())}
        />
      );
    case 'zone':
      return <ZoneInput {...common} value={String(value ?? '')} onChange={(text) => set(text || undefined)} />;
    case 'locales':
      return (
        <Locales
          name={path}
          {...(hint !== undefined && { hint })}
          program={program}
          value={(value ?? {}) as LocaleTexts}
          onChange={set}
        />
      );
    case 'week':
      return <Week {...common} value={(value ?? {}) as Hours} onChange={set} />;
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
  const { path, label, add, columns, fresh } = field;
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
            if (column.kind === 'decimal')
              return (
                <DecimalInput
                  key={column.key}
                  {...common}
                  value={value}
                  onChange={(next) => put(index, column.key, next)}
                />
              );
            return (
              <TextInput
                key={column.key}
                {...common}
                {...(column.kind === 'lines' && { lines: 2 })}
                value={value === undefined ? '' : String(value)}
                onChange={(text) =>
                  put(index, column.key, column.kind === 'integer' ? asInteger(text) : text || undefined)
                }
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
        <Button onPress={() => onChange([...rows, fresh(rows.length)])}>{add}</Button>
      </div>
    </fieldset>
  );
}

const asDecimal = (text: string): number | string | undefined => {
  if (text.trim() === '') return undefined;
  const number = Number(text.replace(',', '.'));
  return Number.isFinite(number) ? number : text;
};

/** Keeps what is typed: `52.` is on its way to a number. */
function DecimalInput({
  value,
  onChange,
  ...field
}: {
  name: string;
  label: string;
  value: unknown;
  onChange: (next: unknown) => void;
}) {
  const [typed, setTyped] = useState('');
  return (
    <TextInput
      {...field}
      value={asDecimal(typed) === value ? typed : String(value ?? '')}
      onChange={(text) => {
        setTyped(text);
        onChange(asDecimal(text));
      }}
    />
  );
}

type LocaleTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What a merchant has written into the program, without what is empty. */
function writtenTexts(program: Json): string[] {
  const list = (path: string, ...keys: string[]) =>
    ((at(program, path) ?? []) as Json[]).flatMap((row) => keys.map((key) => row[key]));
  return [
    at(program, 'fields.primaryLabel'),
    program.rewardName,
    ...list('rewards', 'name'),
    ...list('tiers', 'name'),
    ...list('passTemplate.backFields', 'label', 'value'),
    at(program, 'enrollment.consentText'),
    at(program, 'enrollment.marketingText'),
  ].filter((text): text is string => typeof text === 'string' && text !== '');
}

/** Per language the texts of the program with their translations; an empty translation is none. */
function Locales({
  name,
  hint,
  program,
  value,
  onChange,
}: {
  name: string;
  hint?: string;
  program: Json;
  value: LocaleTexts;
  onChange: (next: LocaleTexts | undefined) => void;
}) {
  const { error } = useFindings(name);
  const [opened, setOpened] = useState<readonly string[]>([]);
  const put = (code: string, text: string, translation: string) => {
    const { [text]: before, ...others } = value[code] ?? {};
    const { [code]: gone, ...rest } = value;
    const now = translation === '' ? others : { ...others, [text]: translation };
    const next = Object.keys(now).length === 0 ? rest : { ...rest, [code]: now };
    onChange(Object.keys(next).length === 0 ? undefined : next);
  };
  const shown = [...new Set([...Object.keys(value), ...opened])].toSorted();
  return (
    <div className="stack whole">
      {hint !== undefined && <p className="hint">{hint}</p>}
      {shown.map((code) => (
        <fieldset className="list" key={code}>
          <legend>{said.languageNamed(languageName(code))}</legend>
          <div className="fields">
            {[...new Set([...writtenTexts(program), ...Object.keys(value[code] ?? {})])].map((text) => (
              <TextInput
                key={text}
                name={`${name}.${code}.${text}`}
                label={text}
                value={value[code]?.[text] ?? ''}
                onChange={(translation) => put(code, text, translation)}
              />
            ))}
          </div>
        </fieldset>
      ))}
      {error !== undefined && <p className="error">{error}</p>}
      <div className="fields">
        <Select
          name={`${name}.language`}
          label={said.translateInto}
          value=""
          options={[
            ['', said.chooseLanguage],
            ...translatable.filter((code) => !shown.includes(code)).map((code) => [code, languageTitle(code)] as const),
          ]}
          onChange={(code) => setOpened([...opened, code])}
        />
      </div>
    </div>
  );
}
