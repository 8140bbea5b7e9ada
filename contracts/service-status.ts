import { z } from 'zod';
import { DateTime } from './identifiers.ts';

/** A share, from 0 to 1. */
const Share = z.number().min(0).max(1);

/** The figures of a period. A share is null if there was nothing to divide by. */
const Availability = z.strictObject({
  /** The share of available minutes since the records begin. */
  available: Share.nullable(),
  unavailableMinutes: z.number().int(),
  /** Requests of the API and of the hosted pages. */
  requests: z.number().int(),
  /** How many of `requests` ended with an error of the service, which is a status of 500 or above. */
  errors: z.number().int(),
  /** Attempts to send a webhook of a live key. */
  webhooks: z.number().int(),
  /** How many of `webhooks` the receivers accepted, with a 2xx. */
  webhooksTaken: z.number().int(),
});

/** `unavailable`: no process could serve. `errors`: hours with at least ten errors that are at least 1 % of the requests. */
export const Incident = z.strictObject({
  kind: z.enum(['unavailable', 'errors']),
  from: DateTime,
  /** The end of the incident. Null while it lasts. */
  until: DateTime.nullable(),
  minutes: z.number().int(),
});
export type Incident = z.infer<typeof Incident>;

export const SpanOfStatus = Availability.extend({ hours: z.number().int() });
export type SpanOfStatus = z.infer<typeof SpanOfStatus>;

export const DayOfStatus = Availability.extend({ day: z.iso.date() });
export type DayOfStatus = z.infer<typeof DayOfStatus>;

/** The response of `GET /status.json`: the recorded availability of the service, without any data of partners or users. */
export const ServiceStatus = z.strictObject({
  status: z.enum(['operational', 'errors', 'unavailable']),
  at: DateTime,
  /** When the records begin. Null if there are none, or if they cannot be read. */
  recordedSince: DateTime.nullable(),
  /** When the records were read. This is earlier than `at` while the database is away. */
  recordsAsOf: DateTime.nullable(),
  /** The last day, week and 90 days. */
  spans: z.array(SpanOfStatus),
  /** The incidents of 90 days, the newest first. */
  incidents: z.array(Incident),
  /** The days in UTC, the oldest first. */
  days: z.array(DayOfStatus),
});
export type ServiceStatus = z.infer<typeof ServiceStatus>;
