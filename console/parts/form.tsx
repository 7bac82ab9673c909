// Form controls with labels and mistakes. A mistake is shown at the control whose `name` equals or begins its path.
import { createContext, type FormEvent, type ReactNode, useContext, useEffect, useId, useRef } from 'react';
import {
  Button as AriaButton,
  Checkbox as AriaCheckbox,
  type ButtonProps,
  FieldError,
  Input,
  Label,
  TextArea,
  TextField,
} from 'react-aria-components';
import { changedField } from '../changedFields.js';
import type { Finding } from '../refusals.js';
import { fieldNames, texts } from '../texts.js';

const Findings = createContext<readonly Finding[]>([]);

export function useFindings(name: string): { error: string | undefined; warning: string | undefined } {
  const own = useContext(Findings).filter(({ path }) => path === name || path.startsWith(`${name}.`));
  const said = (kind: Finding['severity']) =>
    own
      .filter(({ severity = 'error' }) => severity === kind)
      .map(({ message }) => message)
      .join('; ') || undefined;
  return { error: said('error'), warning: said('warning') };
}

/** Mistakes that belong to no control of the form. */
export function OtherFindings({ findings, names }: { findings: readonly Finding[]; names: readonly string[] }) {
  const others = findings.filter(({ path }) => !names.some((name) => path === name || path.startsWith(`${name}.`)));
  if (others.length === 0) return null;
  return (
    <ul className="findings">
      {others.map(({ path, message, severity = 'error' }) => (
        <li key={path + message} className={severity}>
          {texts.frame.wrong(fieldNames[path] ?? changedField('program', path).label ?? path, message)}
        </li>
      ))}
    </ul>
  );
}

interface FormProps {
  label: string;
  findings?: readonly Finding[];
  onSubmit: () => void;
  children: ReactNode;
  className?: string;
}

export function Form({ label, findings = [], onSubmit, children, className = 'form' }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const wasSent = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: these tell of the answer
  useEffect(() => {
    if (!wasSent.current || findings.length === 0) return;
    wasSent.current = false;
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    wrong?.scrollIntoView({ block: 'center' });
    wrong?.focus({ preventScroll: true });
  }, [JSON.stringify(findings)]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // What the browser cannot read, such as a date without a time, has no value here; the browser says what is missing.
    const unread = [...(form.current?.querySelectorAll('input') ?? [])].find(({ validity }) => validity.badInput);
    if (unread) return void unread.reportValidity();
    wasSent.current = true;
    onSubmit();
  };
  return (
    <Findings.Provider value={findings}>
      <form ref={form} aria-label={label} className={className} onSubmit={submit} noValidate>
        {children}
      </form>
    </Findings.Provider>
  );
}

export function Button({ kind = 'plain', ...rest }: ButtonProps & { kind?: 'plain' | 'primary' | 'danger' | 'link' }) {
  return <AriaButton {...rest} className={`button ${kind}`} />;
}

/** What the control of a field of `draft` needs: `<TextInput {...of('name')} label="Name" />`. */
export const controlsOf =
  <T extends object>(draft: T, set: (next: T) => void) =>
  <K extends keyof T & string>(name: K) => ({
    name,
    value: draft[name],
    onChange: (value: T[K]) => set({ ...draft, [name]: value }),
  });

/** What stands between the commas of a text. */
export const wordsOf = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

/** A moment as an input of the type `datetime-local` holds it. */
export const localTime = (at: Date): string =>
  Number.isNaN(at.getTime()) ? '' : new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

interface TextInputProps {
  name: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: 'text' | 'email' | 'search' | 'url' | 'color' | 'datetime-local' | 'number' | 'date';
  lines?: number;
  hint?: string | undefined;
  isDisabled?: boolean;
  inputMode?: 'numeric';
  list?: string;
  autoFocus?: boolean;
}

export function TextInput({ lines, hint, type = 'text', inputMode, list, autoFocus, ...field }: TextInputProps) {
  const { error, warning } = useFindings(field.name);
  const hintId = useId();
  const said = warning ?? hint;
  const described = said === undefined ? {} : { 'aria-describedby': hintId };
  return (
    <TextField
      {...field}
      {...described}
      className="field"
      isInvalid={error !== undefined}
      validationBehavior="aria"
      type={type as 'text'}
    >
      <Label>{field.label}</Label>
      {lines === undefined ? (
        <Input {...(inputMode && { inputMode })} {...(list && { list })} {...(autoFocus && { autoFocus })} />
      ) : (
        <TextArea rows={lines} />
      )}
      {said !== undefined && (
        <span id={hintId} className={warning === undefined ? 'hint' : 'hint warning'}>
          {said}
        </span>
      )}
      <FieldError className="error">{error}</FieldError>
    </TextField>
  );
}

interface SelectProps<T extends string> {
  name: string;
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: readonly (readonly [T, string])[];
  isDisabled?: boolean;
}

export function Select<T extends string>(props: SelectProps<T>) {
  const { name, label, value, onChange, options, isDisabled = false } = props;
  const { error } = useFindings(name);
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        name={name}
        value={value}
        disabled={isDisabled}
        aria-invalid={error !== undefined}
        {...(error !== undefined && { 'aria-describedby': `${id}-error` })}
        onChange={(event) => onChange(event.target.value as T)}
      >
        {options.map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
      {error !== undefined && (
        <span id={`${id}-error`} className="error">
          {error}
        </span>
      )}
    </div>
  );
}

export function Checkbox({ label, ...rest }: { label: string; isSelected: boolean; onChange: (on: boolean) => void }) {
  return (
    <AriaCheckbox {...rest} className="checkbox">
      <span className="box" aria-hidden="true" />
      {label}
    </AriaCheckbox>
  );
}

/** Several values of a list, as check boxes. */
export function Choices<T extends string>(
  props: Pick<SelectProps<T>, 'name' | 'label' | 'options'> & {
    hint?: string;
    value: readonly T[];
    onChange: (value: T[]) => void;
  },
) {
  const { name, label, hint, options, value, onChange } = props;
  const { error } = useFindings(name);
  const hintId = useId();
  return (
    <fieldset name={name} className="choices" {...(hint !== undefined && { 'aria-describedby': hintId })}>
      <legend>{label}</legend>
      {options.map(([key, title]) => (
        <Checkbox
          key={key}
          label={title}
          isSelected={value.includes(key)}
          onChange={(on) => onChange(on ? [...value, key] : value.filter((other) => other !== key))}
        />
      ))}
      {hint !== undefined && (
        <span id={hintId} className="hint">
          {hint}
        </span>
      )}
      {error !== undefined && <span className="error">{error}</span>}
    </fieldset>
  );
}

interface SubmitProps {
  isRunning: boolean;
  isDisabled?: boolean;
  children: ReactNode;
}

export function Submit({ isRunning, isDisabled = false, children }: SubmitProps) {
  return (
    <Button kind="primary" type="submit" isDisabled={isRunning || isDisabled}>
      {isRunning ? texts.frame.working : children}
    </Button>
  );
}
