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

type Show = (value: unknown) => unknown;

/** Each schema is looked at once: the cost of `instanceof` with a class of zod exceeds that of all else here. */
const shows = new WeakMap<z.core.$ZodType, Show>();

function showOf(schema: z.core.$ZodType): Show {
  const known = shows.get(schema);
  if (known) return known;
  const show = newShow(schema);
  shows.set(schema, show);
  return show;
}

function newShow(schema: z.core.$ZodType): Show {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional) {
    const show = showOf(schema.unwrap());
    return (value) => (value === undefined ? undefined : show(value));
  }
  if (schema instanceof z.ZodNullable) {
    const show = showOf(schema.unwrap());
    return (value) => (value === undefined || value === null ? null : show(value));
  }
  const show = partsOf(schema);
  return (value) => (value instanceof Date ? value.toISOString() : show(value));
}

function partsOf(schema: z.core.$ZodType): Show {
  if (schema instanceof z.ZodArray) {
    const show = showOf(schema.element);
    return (value) => (Array.isArray(value) ? value.map(show) : value);
  }
  if (schema instanceof z.ZodObject) {
    const show = fieldsOf(schema);
    return (value) => (value !== null && typeof value === 'object' ? show(value) : value);
  }
  return (value) => value;
}

function fieldsOf({ shape }: z.ZodObject): (row: object) => Record<string, unknown> {
  const fields = Object.entries(shape).map(([name, field]) => [name, showOf(field)] as const);
  return (row) => {
    const answer: Record<string, unknown> = {};
    for (const [name, show] of fields) {
      const value = show(Reflect.get(row, name));
      if (value !== undefined) answer[name] = value;
    }
    return answer;
  };
}

/** The answer about a row: the declared fields alone, so that no other stored field can leak. `computed` wins. */
export function shown<S extends z.ZodObject, C extends Computed<S> = Record<never, never>>(
  schema: S,
  row: Row<S, keyof C>,
  computed?: C,
): z.input<S> {
  return showOf(schema)({ ...('_id' in row && { id: row._id }), ...row, ...computed }) as z.input<S>;
}
