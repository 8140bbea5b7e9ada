import type { EventName } from '../../../../contracts/event-names.ts';
import type { EventDraft } from '../../../platform/database/event-draft.ts';
import { randomId } from '../../../platform/ids.ts';
import type { KeyOwner } from './key-owner.ts';

/** The event of a test. For a receiver, it is a failed session with an unknown id, so it has no effect. */
export const testEvent: EventName = 'verification.session.failed';

/** A draft of a sample event, with made-up identifiers and a unique cause. */
export function sampleDraft(type: EventName, owner: KeyOwner, at: Date): EventDraft {
  const time = at.toISOString();
  const sessionId = randomId('session');
  const enrollmentId = randomId('enrollment');
  const user = 'sample-user';
  const fields: Record<EventName, Record<string, unknown>> = {
    'verification.session.completed': {
      session_id: sessionId,
      user_id: user,
      status: 'complete',
      scopes: ['age_18_plus', 'identity_verified'],
      completed_at: time,
    },
    'verification.session.failed': { session_id: sessionId, failure_reason: 'abandoned', failed_at: time },
    'enrollment.created': { enrollment_id: enrollmentId, user_id: user, created_at: time },
    'vae.resolved': {
      user_id: user,
      claims: { age_18_plus: true, identity_verified: true },
      resolved_at: time,
    },
  };
  return { type, cause: ['sample', sessionId], ...owner, about: {}, at, fields: fields[type] };
}

/**
 * Writes JSON with a space after each colon and comma. A receiver that verifies the signature of `JSON.stringify(JSON.parse(body))`
 * in place of the bytes then fails with the first sample.
 */
export const spacedJson = (json: string): string =>
  // A line break within a text is escaped, so that all of these are of the indentation.
  JSON.stringify(JSON.parse(json), null, 1).replaceAll(/,?\n */g, (gap) => (gap.startsWith(',') ? ', ' : ''));
