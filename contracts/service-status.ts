import { z } from 'zod';
import { DateTime } from './identifiers.ts';

/** From 0 to 1. */
const Share = z.number().min(0).max(1);

/** What the service did within a time. A share is null where nothing happened that it could be a share of. */
const Record = z.strictObject({
  /** The share of available minutes since the records begin. */
  available: Share.nullable(),
  unavailableMinutes: z.number().int(),
  /** Requests of the API and of the hosted pages. */
  requests: z.number().int(),
  /** Those of them that a fault of the service ended: answers of 500 and above. */
  errors: z.number().int(),
  /** Attempts to send a webhook of a live key. */
  webhooks: z.number().int(),
  /** How many of `webhooks` the receiver accepted. */
  webhooksTaken: z.number().int(),
});

export const Incident = z.strictObject({
  kind: z.enum(['unavailable', 'errors']),
  from: DateTime,
  /** Null while it goes on. */
  until: DateTime.nullable(),
  minutes: z.number().int(),
});
export type Incident = z.infer<typeof Incident>;

export const SpanOfStatus = Record.extend({ hours: z.number().int() });
export type SpanOfStatus = z.infer<typeof SpanOfStatus>;

export const DayOfStatus = Record.extend({ day: z.iso.date() });
export type DayOfStatus = z.infer<typeof DayOfStatus>;

/** Answer of `GET /status.json`: what the service has recorded of itself. It tells of no partner and of no user. */
export const ServiceStatus = z.strictObject({
  status: z.enum(['operational', 'errors', 'unavailable']),
  at: DateTime,
  /** When the records begin; null before the first one, and where they cannot be read. */
  recordedSince: DateTime.nullable(),
  /** When the records were read: earlier than `at` while the database is away. */
  recordsAsOf: DateTime.nullable(),
  /** The last day, week and 90 days. */
  spans: z.array(SpanOfStatus),
  /** The newest first, of 90 days. */
  incidents: z.array(Incident),
  /** The oldest first, by UTC. */
  days: z.array(DayOfStatus),
});
export type ServiceStatus = z.infer<typeof ServiceStatus>;
