import { z } from 'zod';
import { ApiError } from '../../platform/errors.ts';
import { isTokenOf } from '../../platform/http/browser/csrf.ts';
import { sha256 } from '../../platform/ids.ts';
import type { Session } from '../../sessions/session.ts';
import type { BrowserContext } from '../../sessions/session-access.ts';
import { formVersionOf, type Step, stepOf } from '../../sessions/steps.ts';
import { consented, passkeyAnswered, returnedByPasskey } from '../../sessions/transitions.ts';
import type { FlowParts } from './parts.ts';
import { Form, type Submitted } from './submit.ts';

/** `credential`: JSON of the browser's `PublicKeyCredential`. */
export const PasskeyForm = Form.pick({ step: true, csrf: true }).extend({
  credential: z.string().max(32_768).optional(),
});
type PasskeySubmission = z.infer<typeof PasskeyForm>;

/** For how many days a browser is not asked again to save a passkey. */
export const markDays = { saved: 400, declined: 30 };

export function createPasskeyForms(parts: FlowParts) {
  const { sessionAccess, authentication, enrolling, passkeys, completion, clock } = parts;
  const { move } = authentication;
  const now = () => new Date(clock.now());

  /**
   * Authorizes a passkey form for a step.
   * @returns `isCurrentForm`: whether the session is at this step now, and the form belongs to its present page. A form
   * of an earlier page changes nothing, so its CSRF token is not checked.
   */
  async function authorizePasskeyForm(
    browser: BrowserContext,
    { csrf = '', ...form }: PasskeySubmission,
    step: Step,
  ) {
    const { session, secret, isCurrent } = await sessionAccess.authorizeForm(browser, csrf);
    const isAtStep = stepOf(session, clock.now()) === step;
    const isCurrentForm = isCurrent && isAtStep && form.step === formVersionOf(session, step);
    if (isCurrentForm && !isTokenOf(secret, csrf)) throw new ApiError('cross_site_request');
    return { session, secret, isCurrentForm };
  }

  /** The passkey mark (see `Submitted`), which lasts longer after the user has saved a passkey. */
  const markFor = (userId: string, answer: keyof typeof markDays) => ({
    value: passkeys.markOf(userId),
    days: markDays[answer],
  });

  return {
    /**
     * Records the consent, and authenticates the user by a passkey. If the user has to be verified again, only the
     * consent is recorded, and the user still has to authenticate by another method.
     * @throws ApiError `passkey_refused`, `passkey_unknown`, `passkey_other_mode`, and the errors of `submit`
     */
    async use(browser: BrowserContext, form: PasskeySubmission): Promise<Submitted> {
      const [{ session, secret, isCurrentForm }, presented] = await Promise.all([
        authorizePasskeyForm(browser, form, 'consent'),
        passkeys.readAnswer(form.credential ?? ''),
      ]);
      if (!isCurrentForm) return { session, secret };
      const at = now();
      const { snapshot, skipsVerification, outlastsCode, useStored } = await passkeys.use(session, presented);
      const { _id: userId } = snapshot.user;
      const mark = markFor(userId, 'saved');
      if (!skipsVerification) {
        const consent = consented(at, { note: 'claims of the passkey are too old' });
        const [moved] = await Promise.all([move(session, consent), useStored]);
        return { session: moved, secret, mark };
      }
      const { csrf = '' } = form;
      const renewed = sessionAccess.rotatedSecret(browser, secret, csrf);
      const user = { ...enrolling.idsOf(session, userId), browserHash: sha256(renewed) };
      const returned = returnedByPasskey(user, at);
      // Claims that expire before the code have to be stored with it. The automatic step after this form does that.
      const transition = outlastsCode ? await completion.issueWith(session, returned, snapshot) : returned;
      const [moved] = await Promise.all([move(session, transition), useStored]);
      const next = await sessionAccess.afterRotation(moved, { browser, renewed, token: csrf });
      return { ...next, mark, isNew: moved?.code !== undefined };
    },

    /** Stores a passkey of the session's user. @throws ApiError `passkey_refused`, and the errors of `submit` */
    async save(browser: BrowserContext, form: PasskeySubmission): Promise<Submitted> {
      const { session, secret, isCurrentForm } = await authorizePasskeyForm(browser, form, 'issue');
      // The user is asked once: the session has left `offered` when the same form comes again.
      if (!isCurrentForm || session.passkey !== 'offered' || !session.userId) return { session, secret };
      await passkeys.save(session, form.credential ?? '');
      const mark = markFor(session.userId, 'saved');
      return { session: await move(session, passkeyAnswered('passkey_saved', now())), secret, mark };
    },

    async decline(session: Session, secret: string): Promise<Submitted> {
      // The user was not asked, or has answered before.
      if (session.passkey !== 'offered' || !session.userId) return { session, secret };
      const moved = await move(session, passkeyAnswered('passkey_declined', now()));
      if (moved) passkeys.onCeremony('save', 'declined');
      const mark = markFor(session.userId, 'declined');
      return { session: moved, secret, mark };
    },
  };
}
