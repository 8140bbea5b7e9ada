import { ApiError } from '../../platform/errors.ts';
import { isTokenOf } from '../../platform/http/csrf.ts';
import { sha256 } from '../../platform/ids.ts';
import type { BrowserContext, SessionAccess } from '../browser/session-access.ts';
import type { SessionPasskeys } from '../passkeys/session-passkeys.ts';
import type { Enrolling } from '../people/enroll.ts';
import type { Session } from '../session/session.ts';
import { formVersionOf, type Step, stepOf } from '../session/steps.ts';
import { consented, passkeyAnswered, returnedByPasskey } from '../session/transitions.ts';
import type { Authentication } from './authenticate.ts';
import type { Completion } from './complete.ts';
import type { Submission, Submitted } from './submit.ts';

/** A form with the response of a passkey. */
export interface PasskeySubmission extends Pick<Submission, 'step' | 'csrf'> {
  /** JSON of the browser's `PublicKeyCredential`. */
  credential?: string | undefined;
}

interface Dependencies {
  sessionAccess: SessionAccess;
  authentication: Pick<Authentication, 'move'>;
  enrolling: Pick<Enrolling, 'known'>;
  passkeys: SessionPasskeys;
  completion: Pick<Completion, 'issueWith'>;
  clock: { now(): number };
}

/** For how many days a browser is not asked again to save a passkey. */
export const markDays = { saved: 400, declined: 30 };

/** Handles the forms with which users return by a passkey, save one, or decline to save one. */
export function createPasskeyForms(dependencies: Dependencies) {
  const { sessionAccess, authentication, enrolling, passkeys, completion, clock } = dependencies;
  const { move } = authentication;
  const now = () => new Date(clock.now());

  /** Returns the session of a passkey form. `isPresent` says whether the session is at the given step, and the form is of this step. */
  async function authorizePasskeyForm(
    browser: BrowserContext,
    { csrf = '', ...form }: PasskeySubmission,
    step: Step,
  ) {
    const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, csrf);
    const present = stepOf(session, clock.now());
    const isPresent = isCurrent && present === step && form.step === formVersionOf(session, present);
    if (isPresent && !isTokenOf(secret, csrf)) throw new ApiError('cross_site_request');
    return { session, secret, isPresent };
  }

  return {
    /**
     * Records the consent, and authenticates the user by a passkey. If some claim is no longer fresh, the user still
     * has to authenticate by another method.
     * @throws ApiError `passkey_refused`, `passkey_unknown`, `passkey_other_mode`, and the errors of `submit`
     */
    async use(browser: BrowserContext, form: PasskeySubmission): Promise<Submitted> {
      const [{ session, secret, isPresent }, presented] = await Promise.all([
        authorizePasskeyForm(browser, form, 'consent'),
        passkeys.present(form.credential ?? ''),
      ]);
      if (!isPresent) return { session, secret };
      const at = now();
      const { snapshot, isKnown, outlastsCode, note } = await passkeys.use(session, presented);
      const { _id: userId } = snapshot.user;
      const mark = { value: passkeys.markOf(userId), days: markDays.saved };
      if (!isKnown) {
        const consent = consented(at, { note: 'claims of the passkey are too old' });
        const [moved] = await Promise.all([move(session, consent), note()]);
        return { session: moved, secret, mark };
      }
      const { csrf = '' } = form;
      const entered = { ...browser, secret };
      const renewed = sessionAccess.rotated(entered, secret, csrf);
      const returned = returnedByPasskey(
        { ...enrolling.known(session, userId), browserHash: sha256(renewed) },
        at,
      );
      const { transition, issues } = outlastsCode
        ? await completion.issueWith(session, returned, snapshot)
        : { transition: returned, issues: false };
      const [moved] = await Promise.all([move(session, transition), note()]);
      const next = await sessionAccess.afterRotation(moved, { browser: entered, renewed, token: csrf });
      return { ...next, mark, isNew: issues && moved !== undefined };
    },

    /** Stores a passkey of the session's user. @throws ApiError `passkey_refused`, and the errors of `submit` */
    async save(browser: BrowserContext, form: PasskeySubmission): Promise<Submitted> {
      const { session, secret, isPresent } = await authorizePasskeyForm(browser, form, 'issue');
      if (!isPresent || session.passkey !== 'offered' || !session.userId) return { session, secret };
      await passkeys.save(session, form.credential ?? '');
      const mark = { value: passkeys.markOf(session.userId), days: markDays.saved };
      return { session: await move(session, passkeyAnswered('passkey_saved', now())), secret, mark };
    },

    /** Records that the user does not want to save a passkey. */
    async decline(session: Session, secret: string): Promise<Submitted> {
      if (session.passkey !== 'offered' || !session.userId) return { session, secret };
      const moved = await move(session, passkeyAnswered('passkey_declined', now()));
      if (moved) passkeys.onCeremony('save', 'declined');
      const mark = { value: passkeys.markOf(session.userId), days: markDays.declined };
      return { session: moved, secret, mark };
    },
  };
}
