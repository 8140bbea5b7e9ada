import { z } from 'zod';
import { DateTime } from '../identifiers.ts';

/** A process of the service that has sent a heartbeat in the last 45 s. */
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
  /** Whether it can serve, by its last heartbeat. Null if its build does not report it; so are the next two fields. */
  ready: z.boolean().nullable(),
  /** Why it is not ready, as `/readyz` says. */
  reasons: z.array(z.string()).nullable(),
  /** The database's time minus that of its machine, in milliseconds. */
  clockOffsetMs: z.number().int().nullable(),
  /** Ids of its master keys. The first one seals. */
  masterKeys: z.array(z.string()),
});
export type ProcessView = z.infer<typeof ProcessView>;

/** A role that no process has, and when one that had it was last seen. Null if none ever was. */
export const MissingRole = z.strictObject({ role: z.string(), since: DateTime.nullable() });

/** A setting that all processes must share and that differs, with the ids of the processes that have each value. */
export const DifferingSetting = z.strictObject({
  /** The variable, such as `SVC_PRICE_CENTS`. */
  setting: z.string(),
  values: z.array(z.strictObject({ value: z.string(), processes: z.array(z.string()) })),
});
export type DifferingSetting = z.infer<typeof DifferingSetting>;

/** The number of deliveries that are not finished yet, and when the oldest of them is or was due. */
const Queue = z.strictObject({ pending: z.number().int(), oldestDueAt: DateTime.nullable() });

/** Since when and why the database is away. `last` has the figures of the last successful read; null if there was none. */
const Away = z.strictObject({
  reason: z.string(),
  since: DateTime,
  last: z.strictObject({ at: DateTime, processes: z.array(ProcessView), queue: Queue }).nullable(),
});

/** An overview of the state of the server. */
export const StatusView = z.strictObject({
  version: z.string(),
  /** The version of the interface contract that the server implements. */
  contract: z.string(),
  environment: z.enum(['development', 'staging', 'production']),
  baseUrl: z.string(),
  /** The server's clock, for comparing. */
  time: DateTime,
  database: z.enum(['up', 'down']),
  /** Null while the database is up. */
  away: Away.nullable(),
  /** Whether the server's clock agrees with the clock of the database. If not, the server refuses charges. */
  clockTrusted: z.boolean(),
  /** The processes of the service, the oldest first. Null if the database is away. */
  processes: z.array(ProcessView).nullable(),
  /** The roles that no process has. Null if the database is away. */
  missingRoles: z.array(MissingRole).nullable(),
  /** The settings in which processes differ and must not. Null if the database is away. */
  differingSettings: z.array(DifferingSetting).nullable(),
  /** Deliveries not yet finished. Null if the database is away. */
  queue: Queue.nullable(),
});
export type StatusView = z.infer<typeof StatusView>;
