import { z } from 'zod';
import { DateTime } from '../identifiers.ts';

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
  /** False while the server's clock may not decide about money. */
  clockTrusted: z.boolean(),
  /** Deliveries not yet finished; null where the database cannot be asked. */
  queue: z.strictObject({ pending: z.number().int(), oldestDueAt: DateTime.nullable() }).nullable(),
});
export type StatusView = z.infer<typeof StatusView>;
