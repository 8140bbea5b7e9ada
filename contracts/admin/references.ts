import { z } from 'zod';
import { type IdentifierKind, identifierKind, identifierPrefixes } from '../identifiers.ts';

/** What support calls each kind of thing. */
export const kindNames: Readonly<Record<IdentifierKind, string>> = {
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

/** `cli_… is a client; this needs key_…`, or undefined where `text` may be what is wanted. */
export function wrongKind(text: string, wanted: IdentifierKind): string | undefined {
  const found = identifierKind(text);
  if (!found || found === wanted) return undefined;
  return `${text} is ${kindNames[found]}; this needs ${identifierPrefixes[wanted]}…`;
}

/**
 * An identifier as an operator gives it. One of another kind is a fault of the input; anything else that
 * does not exist is simply not found.
 */
export function reference(kind: IdentifierKind) {
  return z
    .string()
    .min(1)
    .max(128)
    .superRefine((text, context) => {
      const message = wrongKind(text, kind);
      if (message) context.addIssue({ code: 'custom', message });
    });
}

/** Why an operator does something, or reads the data of a user: for other operators. */
export const Reason = z
  .string()
  .trim()
  .min(1, { error: 'say why' })
  .max(200)
  .regex(/^\P{Cc}+$/u, { error: 'must not contain control characters' });

/** Field of every read of personal data: kept in the audit log, and needed for live users. */
export const readReason = { reason: Reason.optional() };

/** Fields of every list: newest first, at most `limit`, those after the entry `after`. */
export const page = {
  limit: z.number().int().min(1).max(500).default(50),
  after: z.string().min(1).max(128).optional(),
};

/** The fields of a page, which a count of the list does not take. */
export const pageFields = { limit: true, after: true } as const;
export type Unpaged<Wanted> = Omit<Wanted, keyof typeof pageFields>;

/** How many records a list has. Where it is not exact, there are more: a count reads a bounded number. */
export const Total = z.strictObject({ total: z.number().int(), exact: z.boolean() });
export type Total = z.infer<typeof Total>;

/**
 * What a search found. It looks through so many records at most; `stoppedAfter` is the last one that it looked at
 * where there are more, to go on `after`.
 */
export function found<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ rows: z.array(row), stoppedAfter: z.string().nullable() });
}
