// Conditions of a JSON Schema about fields that are given together, or not at all.

/** All of these fields are given. Linters and generators want the fields of `required` among the properties. */
export const has = (...fields: string[]) => ({
  properties: Object.fromEntries(fields.map((field) => [field, {}])),
  required: fields,
});
