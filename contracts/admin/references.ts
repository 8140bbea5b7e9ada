import { z } from 'zod';
import { displayText } from '../display-text.ts';
import { type IdentifierKind, identifierKind, identifierPrefixes } from '../identifiers.ts';

/** The names of the kinds of records in messages. */
const kindNames: Readonly<Record<IdentifierKind, string>> = {
  partner: 'a partner',
  client: 'a client',
  apiKey: 'an API key',
  integration: 'a storefront integration',
  session: 'a session',
  enrollment: 'an enrollment',
  event: 'an event',
  delivery: 'a delivery',
  bulkJob: 'a bulk job',
  entry: 'a ledger entry',
  operator: 'an operator',
  user: 'a user',
  member: 'a member',
  passkey: 'a passkey',
};

/** Returns a message such as `cli_… is a client; this needs key_…`. Undefined if `text` may be of the wanted kind. */
export function wrongKindMessage(text: string, wanted: IdentifierKind): string | undefined {
  const kind = identifierKind(text);
  if (!kind || kind === wanted) return undefined;
  return `${text} is ${kindNames[kind]}; this needs ${identifierPrefixes[wanted]}…`;
}

/**
 * Makes a schema for an identifier that an operator types. An identifier of another kind is refused as bad input. Any other text
 * passes, and is then not found.
 */
export function reference(kind: IdentifierKind) {
  return z
    .string()
    .min(1)
    .max(128)
    .superRefine((text, context) => {
      const message = wrongKindMessage(text, kind);
      if (message) context.addIssue({ code: 'custom', message });
    });
}

/** The reason of an operator for a change or for reading personal data. Other operators can read it. */
export const OperatorReason = displayText(200, 'say why');

/** The field of every read of personal data. The reason is kept in the audit log, and is required for live users. */
export const readReason = { reason: OperatorReason.optional() };

/** The fields of every list: the newest records first, at most `limit`, beginning after the record `after`. */
export const page = {
  limit: z.number().int().min(1).max(500).default(50),
  after: z.string().min(1).max(128).optional(),
};

/** The fields that a count of a list does not have, because it is about all pages. `omit` of zod takes this form. */
export const pageFields = { limit: true, after: true } as const;
export type Unpaged<Wanted> = Omit<Wanted, keyof typeof pageFields>;

/** The number of records of a list. If it is not exact, there are more, because a count reads a limited number. */
export const Total = z.strictObject({ total: z.number().int(), exact: z.boolean() });
export type Total = z.infer<typeof Total>;

/**
 * Makes the schema of the result of a search. A search reads a limited number of records. If there are more, `stoppedAfter` is
 * the last record that it read, and the next search can begin after it.
 */
export function searchResult<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ rows: z.array(row), stoppedAfter: z.string().nullable() });
}
