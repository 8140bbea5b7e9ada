/** Something that a record leads to: `note` says what it is to it. */
export interface Related {
  kind: string;
  id: string;
  note: string;
}

/** Why personal data are read, where the operator has said it. */
export interface ReadReason {
  reason?: string;
}

/** A record with the ids that it leads to, and commands that go on from it. */
export interface Shown {
  record: object;
  /** The part of the record that people see, where it is not all of it; the lines below it say the rest. */
  fields?: object;
  lines?: string[];
  related: Related[];
  next: string[];
}

/** Rows of one list that are named. */
export const mostNamed = 20;

/** One row, or none where there is no id. */
export function related(kind: string, id: string | null | undefined, note = ''): Related[] {
  // A masked id leads nowhere.
  return id && !id.startsWith('(') ? [{ kind, id, note }] : [];
}

/** A row for each, once. */
export function distinct(rows: readonly Related[]): Related[] {
  const seen = new Set<string>();
  return rows.filter(({ id }) => {
    const isNew = !seen.has(id);
    seen.add(id);
    return isNew;
  });
}
