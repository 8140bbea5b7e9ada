import { identifierKind } from '../../contracts/identifiers.ts';

/** A record that another record refers to. `note` describes the relation. */
export interface Related {
  kind: string;
  id: string;
  note: string;
}

/** The reason for reading personal data, if the operator has given one. */
export interface ReadReason {
  reason?: string | undefined;
}

/** A record as `show` displays it. */
export interface Shown {
  record: object;
  /** The fields that people see. Without it, all fields are shown. */
  fields?: object;
  /** Lines that people see below the fields. */
  lines?: string[];
  related: Related[];
  /** The commands to run next, without the name of the program. */
  next: string[];
}

/** The most rows of one list that are shown. */
export const mostRowsPerList = 20;

/** Returns a row for a related record, in an array; an empty array if there is no id. */
export function related(kind: string, id: string | null | undefined, note = ''): Related[] {
  // The server masks a subject for the role ops, as `(masked)`, which cannot be looked up.
  return id && !id.startsWith('(') ? [{ kind, id, note }] : [];
}

/**
 * Returns a row for the operator, the member or the user who made a change, in an array. An empty array for other actors, such as
 * the server itself, because they have no record.
 */
export function relatedActor(id: string | null): Related[] {
  const kind = identifierKind(id ?? '');
  return kind ? related(kind, id, 'did it') : [];
}

/** Returns the rows without repeated ids. The first row of an id stays, with its note. */
export const withoutRepeats = (rows: readonly Related[]): Related[] =>
  rows.filter(({ id }, index) => rows.findIndex((row) => row.id === id) === index);
