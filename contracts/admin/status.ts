import { z } from 'zod';
import { DateTime } from '../identifiers.ts';

/** A process of the service that reported lately. */
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

/** Why the database is away, and its last known figures. `last` is null if it was never read since the start. */
const Away = z.strictObject({
  reason: z.string(),
  since: DateTime,
  last: z.strictObject({ at: DateTime, processes: z.array(ProcessView), queue: Queue }).nullable(),
});

/** An overview of the state of the server. */
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
  /** The processes of the service, the oldest first. Null if the database is away. */
  processes: z.array(ProcessView).nullable(),
  /** Deliveries not yet finished. Null if the database is away. */
  queue: Queue.nullable(),
});
export type StatusView = z.infer<typeof StatusView>;
