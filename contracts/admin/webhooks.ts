import { z } from 'zod';
import { eventNames } from '../event-names.ts';
import { SentName } from '../events.ts';
import { DateTime } from '../identifiers.ts';
import { reference } from './references.ts';

/** Sends a sample of this event in the same way as real events, with retries. Only for test keys. */
export const TriggerEvent = z.strictObject({ keyId: reference('apiKey'), event: z.enum(eventNames) });

/** The most characters of a captured body, as text or in base64. Calls that only read send it in the URL, which has 16 KiB at most. */
export const longestCaptured = 8_192;

/** A request as a receiver got it. `computed` is the signature that the receiver's code computes. */
export const VerifyRequest = z.strictObject({
  keyId: reference('apiKey'),
  /** The raw body: as text, or its bytes in base64 if `encoding` says so. */
  body: z.string().max(longestCaptured),
  /** `base64` is for a body that is not valid UTF-8, which text cannot hold byte for byte. */
  encoding: z.enum(['utf8', 'base64']).default('utf8'),
  /** The value of X-SVC-Signature. */
  signature: z.string().max(512),
  computed: z.string().max(512).optional(),
});
export type VerifyRequest = z.infer<typeof VerifyRequest>;

/**
 * The reasons why a signature was not verified. `standard_signature`: it is that of the header `webhook-signature`. `wrong_key_form`:
 * it is keyed with a part of the secret. `receiver_computes_another`: the request is right, but the receiver computes another signature.
 */
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

/** The result of the check of a signature. `faults` begin with the most certain one. `reasons` has a sentence for each of them. */
export const SignatureCheck = z.strictObject({
  verified: z.boolean(),
  /** The id of the event, if the body is that of an event of this service. */
  eventId: z.string().nullable(),
  faults: z.array(SignatureFault),
  reasons: z.array(z.string()),
});
export type SignatureCheck = z.infer<typeof SignatureCheck>;

/** Deliveries of a test key since a time; `webhooks listen` polls them. */
export const RelayRequest = z.strictObject({
  keyId: reference('apiKey'),
  since: DateTime.optional(),
  /** Only deliveries after this one, in order of time. */
  after: reference('delivery').optional(),
});
export type RelayRequest = z.infer<typeof RelayRequest>;

/**
 * Deliveries since a time, in order, with new signatures. A delivery may be returned twice: recognise it by `deliveryId`. If
 * `after` is set, request the next page with it and the same `since`. Otherwise, use the `until` of the first page as the next
 * `since`.
 */
export const Relayed = z.strictObject({
  until: DateTime,
  /** The signing secret of a test key, for a receiver on a developer's machine. Only in the first response. */
  signing: z.strictObject({ secret: z.string(), version: z.number().int() }).optional(),
  after: z.string().nullable(),
  deliveries: z.array(
    z.strictObject({
      deliveryId: z.string(),
      eventId: z.string(),
      event: SentName,
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    }),
  ),
});
export type Relayed = z.infer<typeof Relayed>;
