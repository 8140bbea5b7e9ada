import { z } from 'zod';
import { DateTime } from '../identifiers.ts';

/** A process of the service that was seen lately. */
export const ProcessView = z.strictObject({
  id: z.string(),
  host: z.string(),
  pid: z.number().int(),
  build: z.string(),
  roles: z.array(z.string()),
  /** The newest schema version that it can read. */
  schema: z.number().int(),
  startedAt: DateTime,
  lastSeenAt: DateTime,
});
export type ProcessView = z.infer<typeof ProcessView>;

/** Deliveries not yet finished. */
const Queue = z.strictObject({ pending: z.number().int(), oldestDueAt: DateTime.nullable() });

/** Why the database cannot be asked, and what it said last; `last` is null where it was not asked since the start. */
const Away = z.strictObject({
  reason: z.string(),
  since: DateTime,
  last: z.strictObject({ at: DateTime, processes: z.array(ProcessView), queue: Queue }).nullable(),
});

/** How the server is, at a glance. */
export const StatusView = z.strictObject({
  version: z.string(),
  /** Version of the interface that the server speaks. */
  contract: z.string(),
  environment: z.enum(['development', 'staging', 'production']),
  baseUrl: z.string(),
  /** The server's clock, for comparing. */
  time: DateTime,
  database: z.enum(['up', 'down']),
  /** Null while the database is up. */
  away: Away.nullable(),
  /** False while the server's clock may not decide about money. */
  clockTrusted: z.boolean(),
  /** Processes of the service, oldest first; null where the database cannot be asked. */
  processes: z.array(ProcessView).nullable(),
  /** Deliveries not yet finished; null where the database cannot be asked. */
  queue: Queue.nullable(),
});
export type StatusView = z.infer<typeof StatusView>;
