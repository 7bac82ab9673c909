// A noun is declared once: the schema of its answer. Its row has the same fields, with moments as Date and the id as
// `_id` (`Stored`), and `shown` turns the row into the answer.
import { z } from 'zod';

type ShapeOf<S extends z.ZodObject> = S['shape'];

type StoredField<F> = F extends z.ZodISODateTime
  ? Date
  : F extends z.ZodNullable<infer Inner>
    ? StoredField<Inner> | null
    : F extends z.ZodOptional<infer Inner> | z.ZodExactOptional<infer Inner>
      ? StoredField<Inner>
      : F extends z.ZodArray<infer Inner>
        ? StoredField<Inner>[]
        : F extends z.ZodObject
          ? StoredFields<F, never>
          : z.input<F>;

type OptionalNames<S extends z.ZodObject> = {
  [K in keyof ShapeOf<S>]: ShapeOf<S>[K] extends z.ZodOptional | z.ZodExactOptional ? K : never;
}[keyof ShapeOf<S>];

type NullableNames<S extends z.ZodObject> = {
  [K in keyof ShapeOf<S>]: null extends z.input<ShapeOf<S>[K]> ? K : never;
}[keyof ShapeOf<S>];

type StoredFields<S extends z.ZodObject, Absent extends keyof ShapeOf<S>> = {
  [K in Exclude<keyof ShapeOf<S>, OptionalNames<S> | Absent>]: StoredField<ShapeOf<S>[K]>;
} & { [K in OptionalNames<S> | Absent]?: NonNullable<StoredField<ShapeOf<S>[K]>> };

type RowName<K> = K extends 'id' ? '_id' : K;

/** The row of an answer. The row lacks the fields of `Absent` where the answer has null. */
export type Stored<S extends z.ZodObject, Absent extends keyof ShapeOf<S> = never> = {
  [K in keyof StoredFields<S, Absent> as RowName<K>]: StoredFields<S, Absent>[K];
};

type Value<F extends z.ZodType> = z.input<F> | StoredField<F>;

type MayLack<S extends z.ZodObject> = OptionalNames<S> | NullableNames<S>;

type Computed<S extends z.ZodObject> = {
  [K in keyof ShapeOf<S>]?: Value<ShapeOf<S>[K]> | (K extends MayLack<S> ? undefined : never);
};

/** A row as far as an answer needs it: without the fields that are computed, null where the answer may have null. */
type Row<S extends z.ZodObject, Given extends PropertyKey> = {
  [K in Exclude<keyof ShapeOf<S>, MayLack<S> | Given> as RowName<K>]: Value<ShapeOf<S>[K]>;
} & { [K in Exclude<MayLack<S>, Given>]?: Value<ShapeOf<S>[K]> | undefined };

function shownField(field: z.core.$ZodType, value: unknown): unknown {
  if (field instanceof z.ZodOptional || field instanceof z.ZodExactOptional)
    return value === undefined ? undefined : shownField(field.unwrap(), value);
  if (field instanceof z.ZodNullable)
    return value === undefined || value === null ? null : shownField(field.unwrap(), value);
  if (value instanceof Date) return value.toISOString();
  if (field instanceof z.ZodArray && Array.isArray(value)) return value.map((each) => shownField(field.element, each));
  if (field instanceof z.ZodObject && value !== null && typeof value === 'object') return shownFields(field, value);
  return value;
}

function shownFields({ shape }: z.ZodObject, row: object): Record<string, unknown> {
  const values: Record<string, unknown> = { ...row };
  const fields = Object.entries(shape).map(([name, field]) => [name, shownField(field, values[name])] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** The answer about a row: the declared fields alone, so that no other stored field can leak. `computed` wins. */
export function shown<S extends z.ZodObject, C extends Computed<S> = Record<never, never>>(
  schema: S,
  row: Row<S, keyof C>,
  computed?: C,
): z.input<S> {
  return shownFields(schema, { ...('_id' in row && { id: row._id }), ...row, ...computed }) as z.input<S>;
}
