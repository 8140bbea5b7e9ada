import type { Enrolling } from '../../people/enrollments/enroll.ts';
import type { Outbox } from '../../people/enrollments/outbox.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { SessionAccess } from '../../sessions/session-access.ts';
import type { AuthorizationRequests } from '../../sessions/sources/authorization-request.ts';
import type { SessionSources } from '../../sessions/sources/session-source.ts';
import type { Authentication } from './authenticate.ts';
import type { Completion } from './complete.ts';
import type { SessionPasskeys } from './session-passkeys.ts';
import type { Verify } from './verify.ts';

/** What the steps of the flow and its forms work with. */
export interface FlowParts extends SessionSources {
  sessionAccess: SessionAccess;
  authentication: Authentication;
  authorizationRequests: AuthorizationRequests;
  enrolling: Pick<Enrolling, 'idsOf'>;
  passkeys: SessionPasskeys;
  verify: Verify;
  completion: Completion;
  outbox: Outbox;
  keyring: Pick<Keyring, 'id'>;
  clock: { now(): number };
}
