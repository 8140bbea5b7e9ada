import type { z } from 'zod';

/** A field of a stored record. A time, which the view has as a text, is a `Date`. */
type Stored<Field> = Field | (string extends Field ? Date : never);

/** A record with the fields of a view. Those that are null in the view may be absent. */
type StoredRecord<View> = {
  [Name in keyof View as null extends View[Name] ? never : Name]: Stored<View[Name]>;
} & {
  [Name in keyof View as null extends View[Name] ? Name : never]?: Stored<View[Name]> | undefined;
};

/** The fields of a view that a type of records does not have at all, not even as optional ones. They must be given. */
type Lacking<View, Given> = { [Name in Exclude<keyof View, keyof Given>]: unknown };

/**
 * Returns the fields of a record that a view has: times as RFC 3339, and null for an absent field. Fields that the view does not
 * have, such as hashes of secrets, are left out.
 */
export function viewAs<Schema extends z.ZodObject, Given extends StoredRecord<z.output<Schema>>>(
  view: Schema,
  record: Given & Lacking<z.output<Schema>, Given>,
): z.output<Schema> {
  const fields = record as Readonly<Record<string, unknown>>;
  const shown = Object.keys(view.shape).map((name) => {
    const value = fields[name];
    return [name, value instanceof Date ? value.toISOString() : (value ?? null)];
  });
  return Object.fromEntries(shown) as z.output<Schema>;
}
