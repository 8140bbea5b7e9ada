import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.ts';
import { noteFailure } from '../../platform/http/answer-log.ts';
import { issueToken, nonceCookie, requireOwn } from '../../platform/http/browser/csrf.ts';
import { choiceAddress } from '../../platform/http/browser/language-choice.ts';
import { codeHeader } from '../../platform/http/errors.ts';
import { subscriberOf } from '../../platform/http/limits/client-network.ts';
import type { PageParts } from '../parts.ts';
import type { Page } from '../views/pages.ts';
import type { Responses } from '../views/responses.ts';
import type { Ending, PlainContext, SignInFault } from './pages.ts';
import { type SignedIn, signInLifetimeMs } from './sign-in.ts';
import type { YourData } from './your-data.ts';

const signInCookie = 'svc_you';
/** Binds challenges, and forms before the sign-in, to the browser. */
const nonceName = 'svc_you_nonce';

const Form = z.object({ csrf: z.string().max(256).optional() });
const SignInForm = Form.extend({ credential: z.string().max(32_768).optional() });
const Id = z.string().max(64).optional();
const Params = z.object({ partner: Id, passkey: Id });

const signInLimit = { perMinute: 30, refusal: 'Too many requests' };
const userLimit = { perMinute: 60, refusal: 'Too many requests' };

/** The pages of a user's own data, to be mounted at `/verify/you`. */
export function yourDataRoutes(parts: PageParts, responses: Responses): FastifyPluginAsyncZod {
  const { passkeysOn, signIn, yourData, yourDataPages: pages, limit } = parts;
  const { origin, secure, sendPage, languageOf, setCookie, forgetPasskeyMark } = responses;
  const root = `${responses.root}/you`;

  /** `Strict`: the browser does not send the cookie when the user follows a link of another site. */
  const setStrictCookie = (reply: FastifyReply, cookie: { name: string; value: string; maxAge?: number }) =>
    setCookie(reply, { ...cookie, at: root, sameSite: 'strict' });
  const clearCookie = (reply: FastifyReply, name: string) => void reply.clearCookie(name, { path: root });

  /** @param secret the cookie that the page's forms are bound to. A page without a form has none. */
  const contextOf = (request: FastifyRequest, secret: string): PlainContext => ({
    language: languageOf(request, undefined),
    choiceAddress: choiceAddress(request, root),
    root,
    csrf: issueToken(secret),
  });

  const nonceOf = nonceCookie(nonceName, { path: root, httpOnly: true, sameSite: 'strict', secure });

  /** Refuses a form that was not shown to this browser. */
  const requireOwnForm = (request: FastifyRequest, secret: string): void =>
    requireOwn(request, origin, { secret, token: (request.body as z.infer<typeof Form> | null)?.csrf });

  /**
   * Names the notice for a user whose sign-in has ended, in the query of the sign-in page. Without it, users believe that
   * an erasure was done. A repeated erasure has no passkey any more: for it, "nothing was changed" would be wrong.
   */
  async function noticeQuery({ cookies, routeOptions }: FastifyRequest): Promise<string> {
    const wantedSignOut = routeOptions.url?.endsWith('/sign-out');
    if (wantedSignOut || !passkeysOn) return '';
    return (await signIn.isOfRemovedPasskey(cookies[signInCookie])) ? '?unknown' : '?ended';
  }

  /** The notice that the query of the sign-in page names; undefined if it names none. */
  const noticeIn = ({ query }: FastifyRequest) =>
    (['ended', 'unknown'] as const).find((notice) => passkeysOn && Object.hasOwn(query as object, notice));

  /** The signed-in user of a request. Undefined if there is none: then the reply is sent and leads to the sign-in. */
  async function requireUser(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn | undefined> {
    const found = passkeysOn ? await signIn.find(request.cookies[signInCookie]) : undefined;
    const isFirstPage = /\/you\/?$/.test(request.routeOptions.url ?? '');
    if (found) await limit('your data', found.user._id, userLimit);
    // The first page shows the sign-in itself. All other addresses lead to it.
    else if (isFirstPage) sendSignIn(request, reply, noticeIn(request));
    else void reply.redirect(`${origin}${root}${await noticeQuery(request)}`, 303);
    return found;
  }

  /** Sends the sign-in page. @param fault why the sign-in before has failed, or has ended */
  function sendSignIn(request: FastifyRequest, reply: FastifyReply, fault?: SignInFault, status = 200) {
    const nonce = passkeysOn ? nonceOf(request, reply) : '';
    const passkey = passkeysOn ? JSON.stringify(signIn.requestOptions(nonce)) : undefined;
    return sendPage(reply, pages.signIn(contextOf(request, nonce), { passkey, fault, status }));
  }

  /** Sends a page with the user's data. When the sign-in ends, the browser leaves it: the next person may use this computer. */
  const sendOwn = (reply: FastifyReply, { secondsLeft }: SignedIn, page: Page) =>
    sendPage(reply, { ...page, refresh: `${secondsLeft}; url=${origin}${root}` });

  /** An action of a signed-in user, on the partner or the passkey that the address names by `id`; empty for an erasure. */
  interface Action {
    /** The question before the action; undefined if the user has no such partner or passkey. */
    find: (data: YourData, id: string) => Ending | undefined;
    /** Carries out the action. Returns the page to show; undefined leads back to all data. */
    act: (signedIn: SignedIn, id: string, reply: FastifyReply) => Promise<Page | undefined>;
  }

  /** Routes of an action that the user has to confirm: the page with the question, and its form. */
  const actionRoutes =
    (path: string, { find, act }: Action): FastifyPluginAsyncZod =>
    async (app) => {
      /** The address has one parameter at most. */
      const idIn = ({ params }: { params: z.infer<typeof Params> }) => Object.values(params)[0] ?? '';

      app.get(path, { schema: { params: Params }, exposeHeadRoute: false }, async (request, reply) => {
        const signedIn = await requireUser(request, reply);
        if (!signedIn) return reply;
        const id = idIn(request);
        const ending = find(await yourData.of(signedIn.user), id);
        if (!ending) throw new ApiError('route_not_found');
        // The form is sent to the address of its page.
        const action = `${root}${path.replace(/:\w+/, () => id)}`;
        return sendOwn(
          reply,
          signedIn,
          pages.ask({ ...contextOf(request, signedIn.cookie), action }, ending),
        );
      });
      app.post(path, { schema: { params: Params, body: Form } }, async (request, reply) => {
        const signedIn = await requireUser(request, reply);
        if (!signedIn) return reply;
        requireOwnForm(request, signedIn.cookie);
        const page = await act(signedIn, idIn(request), reply);
        return page ? sendPage(reply, page) : reply.redirect(`${origin}${root}`, 303);
      });
    };

  /** The request, for the audit log. */
  const callOf = ({ request }: FastifyReply) => ({ requestId: request.id });

  const stop = actionRoutes('/stop/:partner', {
    find({ partners }, id) {
      const partner = partners.find(({ partnerId, canRead }) => partnerId === id && canRead);
      return partner && { kind: 'stop', partner };
    },
    async act({ user }, id, reply) {
      await yourData.stopSharing(user, id, callOf(reply));
      return undefined;
    },
  });

  const remove = actionRoutes('/passkeys/:passkey', {
    find({ passkeys }, id) {
      const exists = passkeys.some(({ _id }) => _id === id);
      return exists ? { kind: 'remove', isLast: passkeys.length === 1 } : undefined;
    },
    async act({ user, passkey: passkeyOfSignIn }, id, reply) {
      await yourData.removePasskey(user, id, callOf(reply));
      forgetPasskeyMark(reply);
      if (id !== passkeyOfSignIn._id) return undefined;
      // The sign-in has ended with its passkey.
      clearCookie(reply, signInCookie);
      return pages.done(contextOf(reply.request, ''), 'removed');
    },
  });

  const erase = actionRoutes('/erase', {
    find: () => ({ kind: 'erase' }),
    async act({ user }, _id, reply) {
      // The user stays signed in, and can ask again after the hold.
      if (yourData.isHeld(user)) return pages.done(contextOf(reply.request, ''), 'held');
      await yourData.erase(user, callOf(reply));
      forgetPasskeyMark(reply);
      clearCookie(reply, signInCookie);
      return pages.done(contextOf(reply.request, ''), 'erased');
    },
  });

  return async (app) => {
    // Users type this address, with or without a slash at the end, and programs check links to it by HEAD.
    app.get('/', async (request, reply) => {
      const signedIn = await requireUser(request, reply);
      if (!signedIn) return reply;
      const data = await yourData.of(signedIn.user);
      return sendOwn(reply, signedIn, pages.show(contextOf(request, signedIn.cookie), signedIn, data));
    });

    // The challenge in a page is valid for two minutes only; older pages ask for a new one here.
    app.get('/options', { exposeHeadRoute: false }, async (request, reply) => {
      if (!passkeysOn) throw new ApiError('route_not_found');
      return signIn.requestOptions(nonceOf(request, reply));
    });

    app.post('/sign-in', { schema: { body: SignInForm } }, async (request, reply) => {
      if (!passkeysOn) throw new ApiError('route_not_found');
      const nonce = request.cookies[nonceName] ?? '';
      requireOwnForm(request, nonce);
      await limit('sign-in', subscriberOf(request.ip), signInLimit);
      try {
        const cookie = await signIn.signIn(request.body.credential ?? '', nonce);
        // The browser may be signed in by another passkey, whose cookie is replaced now.
        await signIn.end(request.cookies[signInCookie]);
        clearCookie(reply, nonceName);
        setStrictCookie(reply, { name: signInCookie, value: cookie, maxAge: signInLifetimeMs / 1000 });
        return reply.redirect(`${origin}${root}`, 303);
      } catch (error) {
        const code = error instanceof ApiError ? error.code : undefined;
        if (code !== 'passkey_refused' && code !== 'passkey_unknown') throw error;
        // The user can try again at once, so the page is the sign-in. Log and header have the error all the same.
        noteFailure(request, error as ApiError);
        void reply.header(codeHeader, code);
        return sendSignIn(request, reply, code === 'passkey_unknown' ? 'unknown' : 'refused', 401);
      }
    });

    app.post('/sign-out', { schema: { body: Form } }, async (request, reply) => {
      const signedIn = await requireUser(request, reply);
      if (!signedIn) return reply;
      requireOwnForm(request, signedIn.cookie);
      await signIn.end(signedIn.cookie);
      clearCookie(reply, signInCookie);
      return reply.redirect(`${origin}${root}`, 303);
    });

    for (const routes of [stop, remove, erase]) await app.register(routes);
  };
}
