import type { FastifyRequest } from 'fastify';
import type { Member } from '../../partners/members/member-store.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import type { Browser } from './browser.ts';
import type { MemberCalls } from './calls/member-calls.ts';
import type { PortalDependencies } from './dependencies.ts';
import type { DeviceLogins } from './device/device-logins.ts';
import type { MemberSessions, SignedIn } from './member-sessions.ts';
import type { Responses } from './responses.ts';
import type { SignIn } from './sign-in.ts';

/** What the routes and the pages of the portal work with. */
export interface PortalParts
  extends Pick<PortalDependencies, 'router' | 'limit' | 'clock' | 'about' | 'previewConsent'> {
  browser: Browser;
  calls: MemberCalls;
  responses: Responses;
  sessions: MemberSessions;
  signIn: SignIn;
  logins: DeviceLogins;
  /** @throws ApiError `not_found` */
  partnerName: (partnerId: string) => Promise<string>;
  /** Who invited a member: an e-mail address, or `support`. */
  inviterOf: (member: Member) => Promise<string>;
  /** Writes the audit entry of a sign-in. */
  noteSignIn: (member: Member, request: FastifyRequest) => Promise<void>;
  /** Writes the audit entry of an action on a login. `name`: the program's machine. `memberId`: the login's member. */
  noteDevice: (
    action: 'confirm' | 'deny' | 'allow' | 'end',
    signedIn: SignedIn,
    about: { request: FastifyRequest; name: string; memberId?: string },
  ) => Promise<void>;
  /** Runs a change of a member's own passkeys, writes its audit entry, also of a refusal, and tells the member by e-mail. */
  changePasskeys: (
    by: { signedIn: SignedIn; request: FastifyRequest },
    what: 'added' | 'removed',
    change: (actor: Actor) => Promise<void>,
  ) => Promise<void>;
}
