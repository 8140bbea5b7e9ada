/** Returns settings as a record stores them. A field of null is removed, which means the default. */
export const storedForm = (settings: object) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value ?? undefined]));

/** Returns the present values of the fields that a change names, for the audit log; null for an absent one. */
export function presentValues<Changes extends object>(record: object, changes: Changes): Changes {
  const fields = record as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.keys(changes).map((name) => [name, fields[name] ?? null])) as Changes;
}
