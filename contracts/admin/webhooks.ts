import { z } from 'zod';
import { eventNames } from '../event-names.ts';
import { DateTime } from '../identifiers.ts';
import { EventName } from './deliveries.ts';
import { reference } from './references.ts';

/** One harmless sample event, sent once to the key's URL. */
export const TestEndpoint = z.strictObject({ keyId: reference('apiKey') });

/** A sample of this event through the whole pipeline, retries included; for test keys. */
export const TriggerEvent = z.strictObject({ keyId: reference('apiKey'), event: z.enum(eventNames) });
export type TriggerEvent = z.infer<typeof TriggerEvent>;

/** A request as a receiver got it. `computed` is the signature that the receiver's own code makes of it. */
export const VerifyRequest = z.strictObject({
  keyId: reference('apiKey'),
  /** The raw body, byte for byte. */
  body: z.string().max(4096),
  /** The value of X-SVC-Signature. */
  signature: z.string().max(512),
  computed: z.string().max(512).optional(),
});
export type VerifyRequest = z.infer<typeof VerifyRequest>;

/** Why a request did not verify. */
export const SignatureFault = z.enum([
  'missing_signature',
  'missing_prefix',
  'upper_case',
  'not_hex',
  'standard_signature',
  'wrong_key_form',
  'altered_body',
  'old_secret',
  'wrong_secret',
  'receiver_computes_another',
]);
export type SignatureFault = z.infer<typeof SignatureFault>;

/** `faults` from the most to the least certain, with `reasons` in words; none where it verifies. */
export const Verification = z.strictObject({
  verified: z.boolean(),
  /** Where the body is that of an event of ours. */
  eventId: z.string().nullable(),
  faults: z.array(SignatureFault),
  reasons: z.array(z.string()),
});
export type Verification = z.infer<typeof Verification>;

/** Deliveries of a test key since a time; `webhooks listen` polls them. */
export const RelayRequest = z.strictObject({
  keyId: reference('apiKey'),
  since: DateTime.optional(),
  /** Only those that follow this one, in order of time. */
  after: reference('delivery').optional(),
});
export type RelayRequest = z.infer<typeof RelayRequest>;

/**
 * Deliveries made since, signed as of now, in order. The same one may come twice: receivers of `webhooks listen` go
 * by `deliveryId`. Where there is an `after`, ask again with it, and the same `since`, for the next page; else with
 * the `until` of the first page as `since`.
 */
export const Relayed = z.strictObject({
  until: DateTime,
  /** The signing secret of a test key, with the first answer only, for a receiver on a developer's machine. */
  signing: z.strictObject({ secret: z.string(), version: z.number().int() }).optional(),
  after: z.string().nullable(),
  deliveries: z.array(
    z.strictObject({
      deliveryId: z.string(),
      eventId: z.string(),
      event: EventName,
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    }),
  ),
});
export type Relayed = z.infer<typeof Relayed>;
