import { z } from 'zod';
import { ClaimsMap, ClaimsMeta } from './claims.ts';
import { DateTime } from './identifiers.ts';

/** How long the same `Idempotency-Key` and body return the stored response, in seconds (docs/choices.md). */
export const storedAnswerLifetimeSeconds = 24 * 3600;

/** The headers of a request, in lower case as in Node. A repeated request with the same key is not billed again. */
export const CheckboxHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: 'must be 1 to 255 visible ASCII characters' })
    .describe('Names the request: the same key and body return the stored answer for 24 hours'),
});

/** Provisional, because the interface names these endpoints but does not define them. */
export const CheckboxRequest = z
  .object({
    enrollment_id: z.string().min(1).max(128),
    claims: z
      .array(z.string().min(1).max(128))
      .min(1)
      .max(32)
      .describe('Identifiers; unknown ones are ignored'),
  })
  .meta({ id: 'CheckboxRequest' });
export type CheckboxRequest = z.infer<typeof CheckboxRequest>;

export const CheckboxResponse = z
  .strictObject({
    success: z.literal(true),
    sub: z.string(),
    evaluated_at: DateTime,
    claims: ClaimsMap,
    meta: ClaimsMeta,
  })
  .meta({ id: 'CheckboxResponse' });
export type CheckboxResponse = z.infer<typeof CheckboxResponse>;
