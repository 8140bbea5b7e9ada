/** A record that another record refers to. `note` describes the relation. */
export interface Related {
  kind: string;
  id: string;
  note: string;
}

/** The reason for reading personal data, if the operator has given one. */
export interface ReadReason {
  reason?: string;
}

/** A record with the related records and the next commands. */
export interface Shown {
  record: object;
  /** The fields that people see. Without it, all fields are shown. */
  fields?: object;
  lines?: string[];
  related: Related[];
  next: string[];
}

/** The most rows of one list that are shown. */
export const mostNamed = 20;

/** Returns one row, or none if there is no id. */
export function related(kind: string, id: string | null | undefined, note = ''): Related[] {
  // A masked id cannot be looked up.
  return id && !id.startsWith('(') ? [{ kind, id, note }] : [];
}

/** Removes repeated rows. */
export function distinct(rows: readonly Related[]): Related[] {
  const seen = new Set<string>();
  return rows.filter(({ id }) => {
    const isNew = !seen.has(id);
    seen.add(id);
    return isNew;
  });
}
