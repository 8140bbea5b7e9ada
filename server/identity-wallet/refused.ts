import type { FailureReason } from '../../contracts/verification.ts';
import { ApiError } from '../platform/errors.ts';

/** The reasons why a presentation proves nothing, each with the failure reason of the session. */
const refusals = {
  malformed: 'document_rejected',
  'wrong type': 'document_rejected',
  'unknown issuer': 'document_rejected',
  'issuer certificate unusable': 'document_rejected',
  'issuer signature wrong': 'document_rejected',
  'attestation expired': 'document_rejected',
  'attestation not yet valid': 'document_rejected',
  'digest mismatch': 'document_rejected',
  'holder proof wrong': 'document_rejected',
  'wrong nonce': 'document_rejected',
  'wrong audience': 'document_rejected',
  'more than was asked for': 'document_rejected',
  'less than was asked for': 'document_rejected',
  'wrong issuing country': 'document_rejected',
  'attestation revoked': 'document_rejected',
  'status unknown': 'source_error',
  'wallet error': 'source_error',
} as const satisfies Record<string, FailureReason>;

export type RefusalReason = keyof typeof refusals;

/** A presentation that proves nothing. `detail` never holds a value of the credential. */
export class PresentationRefused extends Error {
  readonly refusal: RefusalReason;

  constructor(refusal: RefusalReason, detail?: string) {
    super(detail === undefined ? refusal : `${refusal}: ${detail}`);
    this.name = 'PresentationRefused';
    this.refusal = refusal;
  }

  get reason(): 'document_rejected' | 'source_error' {
    return refusals[this.refusal];
  }
}

/** Returns the error for an unreadable answer. The request stays open, because anyone who knows its address can send one. */
export const unreadable = (why: string): ApiError =>
  new ApiError('invalid_request', { description: `The answer cannot be read: ${why}` });

/** Refuses with `refusal` unless `condition` holds. */
export function demand(condition: unknown, refusal: RefusalReason, detail?: string): asserts condition {
  if (!condition) throw new PresentationRefused(refusal, detail);
}
