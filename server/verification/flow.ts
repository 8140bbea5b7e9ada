import { ApiError, unavailable } from '../platform/errors.ts';
import { sha256 } from '../platform/ids.ts';
import type { Keyring } from '../platform/keyring.ts';
import { isBound, rotatedSecret } from './browser-binding.ts';
import { isTokenOf } from './csrf.ts';
import type { Ending } from './ending.ts';
import type { Enrollment } from './enrollment-store.ts';
import type { SessionStore } from './session-store.ts';
import {
  authenticated,
  consented,
  failed,
  type Session,
  type Stage,
  stageOf,
  type Transition,
} from './sessions.ts';
import type { Authenticated, Beginning, VerificationSource } from './sources/source.ts';
import type { Verifying } from './verifying.ts';

/** A browser at the door of a session, with the secret of its cookie. */
export interface Visit {
  sessionId: string;
  secret: string | undefined;
}

export interface Submission {
  /** The step that the form was made for. */
  step?: string | undefined;
  csrf?: string | undefined;
  decision?: 'accept' | 'decline' | 'cancel' | undefined;
  /** What the verification source's page asked for. */
  input: Readonly<Record<string, string>>;
}

/** What the browser gets to see: the page of the step it is at, or the way back to the partner. */
export type View =
  | { kind: 'page'; session: Session; beginning?: Beginning }
  | { kind: 'redirect'; url: string };

interface Dependencies {
  sessions: SessionStore;
  sources: ReadonlyMap<string, VerificationSource>;
  enrol: (session: Session, who: Authenticated, at: Date) => Promise<Enrollment>;
  verify: Verifying;
  ending: Ending;
  /** Publishes in the background what a session or an enrollment owes. */
  drain: { session(session: Session): void; enrollment(enrollment: Enrollment): void };
  keyring: Pick<Keyring, 'id'>;
  clock: { now(): number };
}

const triesAgainstOthers = 5;
const live: readonly Stage[] = ['consent', 'authenticate', 'verify', 'issue'];

/** The hosted flow (design, section 4): consent → authenticate → verify → redirect. */
export function createFlow(dependencies: Dependencies) {
  const { sessions, sources, enrol, verify, ending, drain, keyring, clock } = dependencies;

  async function find(sessionId: string): Promise<Session> {
    const session = await sessions.find(sessionId);
    if (!session) throw new ApiError('session_not_found');
    return session;
  }

  async function move(session: Session, transition: Transition): Promise<void> {
    const moved = await sessions.move(session, transition, new Date(clock.now()));
    if (moved) drain.session(moved);
  }

  /** What comes next. Steps that need nobody are taken here, so a reload resumes what a crash cut short. */
  async function show(visit: Visit): Promise<View> {
    for (let tries = 0; tries < triesAgainstOthers; tries += 1) {
      const session = await find(visit.sessionId);
      if (!isBound(session.browserHash, visit.secret)) throw new ApiError('unauthorized');
      const stage = stageOf(session, clock.now());
      const detour = await ending.detour(session, stage);
      if (detour) return { kind: 'redirect', url: detour };
      switch (stage) {
        case 'consent':
          return { kind: 'page', session };
        case 'authenticate':
          return { kind: 'page', session, beginning: await sourceOf(session).begin(known(session)) };
        case 'verify':
          await move(session, await verify(session, sourceOf(session)));
          break;
        case 'issue':
          await move(session, ending.issueCode(session));
          break;
        case 'completed':
        case 'failed':
        case 'expired':
        case 'over':
          return { kind: 'redirect', url: await ending.redirect(session, stage) };
      }
    }
    throw unavailable(new Error(`session ${visit.sessionId} keeps changing`));
  }

  /**
   * Takes a form. One that was made for an earlier step (back button, second tab, double click) does nothing:
   * the browser is then shown where the session really is.
   * @returns the secret that the browser's cookie must hold from now on
   * @throws ApiError `unauthorized` in another browser, `cross_site_request` for a form that is not its own
   */
  async function submit(visit: Visit, form: Submission): Promise<string> {
    const session = await find(visit.sessionId);
    const secret = secretOf(session, visit, form);
    const stage = stageOf(session, clock.now());
    const own = secret === visit.secret && isTokenOf(secret, form.csrf ?? '');
    const stale = secret !== visit.secret || (form.step !== undefined && form.step !== stage);
    if (own && form.decision === 'cancel' && live.includes(stage)) {
      await move(session, failed(session, 'abandoned', now()));
      return secret;
    }
    if (stale || !live.includes(stage)) return secret;
    if (!own) throw new ApiError('cross_site_request');
    if (stage === 'consent') await decide(session, form);
    if (stage === 'authenticate') return authenticate(session, secret, form);
    return secret;
  }

  /** The visitor's secret where it is the session's, or what this very form has already rotated it to. */
  function secretOf(session: Session, { sessionId, secret }: Visit, { csrf }: Submission): string {
    if (secret === undefined) throw new ApiError('unauthorized');
    const rotated = rotatedSecret(keyring.id, { sessionId, secret, token: csrf ?? '' });
    const own = [secret, rotated].find((candidate) => isBound(session.browserHash, candidate));
    if (own === undefined) throw new ApiError('unauthorized');
    return own;
  }

  async function decide(session: Session, { decision }: Submission): Promise<void> {
    if (decision === 'accept') return move(session, consented(now()));
    if (decision === 'decline') return move(session, failed(session, 'consent_declined', now()));
    throw new ApiError('invalid_request', { description: 'decision must be accept, decline or cancel' });
  }

  async function authenticate(
    session: Session,
    secret: string,
    { csrf, input }: Submission,
  ): Promise<string> {
    const outcome = await sourceOf(session).resume(known(session), input);
    if (outcome.kind === 'failed') {
      await move(session, failed(session, outcome.reason, now()));
      return secret;
    }
    if (outcome.kind === 'verified') throw new Error('a source verified somebody who has not authenticated');
    const enrollment = await enrol(session, outcome, now());
    drain.enrollment(enrollment);
    const renewed = rotatedSecret(keyring.id, { sessionId: session._id, secret, token: csrf ?? '' });
    const { userId, sub, _id: enrollmentId, firstSession } = enrollment;
    const returning = firstSession !== session._id;
    const who = { userId, sub, enrollmentId, returning, browserHash: sha256(renewed) };
    const moved = await sessions.move(session, authenticated(who, outcome.carry, now()), now());
    // Lost against another request of this browser: if that was the same form, it set the same secret.
    return moved
      ? renewed
      : secretOf(await find(session._id), { sessionId: session._id, secret }, { csrf, input });
  }

  function sourceOf(session: Session): VerificationSource {
    const source = sources.get(session.source);
    if (!source) throw new Error(`session ${session._id} needs the verification source ${session.source}`);
    return source;
  }

  function now(): Date {
    return new Date(clock.now());
  }

  return { show, submit };
}

function known({ _id: id, clientId, mode, carried }: Session) {
  return { id, clientId, mode, carried };
}
