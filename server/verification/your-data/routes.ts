import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ApiError } from '../../platform/errors.ts';
import { noteFailure } from '../../platform/http/answer-log.ts';
import { subscriberOf } from '../../platform/http/client-network.ts';
import { isOwnOrigin, issueToken, isTokenOf } from '../../platform/http/csrf.ts';
import { codeHeader } from '../../platform/http/errors.ts';
import type { RequestLimit } from '../../platform/http/request-limits.ts';
import { choiceAddress } from '../pages/language-choice.ts';
import type { Page } from '../pages/pages.ts';
import type { Responses } from '../pages/responses.ts';
import type { Ending, PlainContext, YourDataPages } from './pages.ts';
import { type SignedIn, signInLifetimeMs, type UserSignIn } from './sign-in.ts';
import type { YourData, YourDataOfUser } from './your-data.ts';

interface Dependencies {
  /** Whether this installation has passkeys. */
  passkeysOn: boolean;
  signIn: UserSignIn;
  yourData: YourDataOfUser;
  pages: YourDataPages;
  limit: RequestLimit;
}

const signInCookie = 'svc_you';
/** Binds challenges, and forms before the sign-in, to the browser. */
const nonceCookie = 'svc_you_nonce';

const Form = z.object({ csrf: z.string().max(256).optional() });
const SignInForm = Form.extend({ credential: z.string().max(32_768).optional() });
const Partner = z.object({ partner: z.string().max(64) });
const PasskeyParams = z.object({ passkey: z.string().max(64) });

/** The limit of sign-ins from one address. */
const signInLimit = { perMinute: 30, refusal: 'Too many requests' };
/** The limit of requests of one user. */
const userLimit = { perMinute: 60, refusal: 'Too many requests' };

/** The pages of a user's own data, to be mounted at `/verify/you`. */
export function yourDataRoutes(dependencies: Dependencies, responses: Responses): FastifyPluginAsyncZod {
  const { passkeysOn, signIn, yourData, pages, limit } = dependencies;
  const { origin, sendPage, languageOf, strictCookies, forgetPasskeyMark } = responses;
  const root = `${responses.root}/you`;
  const cookies = strictCookies(root);

  /** @param secret the cookie that the page's forms are bound to. A page without a form has none. */
  const contextOf = (request: FastifyRequest, secret: string): PlainContext => ({
    language: languageOf(request, undefined),
    choiceAddress: choiceAddress(request),
    root,
    csrf: issueToken(secret),
  });

  /** The browser's nonce, or a new one if it has none. */
  function nonceOf(request: FastifyRequest, reply: FastifyReply): string {
    const known = request.cookies[nonceCookie];
    if (known !== undefined && /^[\w-]{43}$/.test(known)) return known;
    const nonce = randomBytes(32).toString('base64url');
    cookies.set(reply, nonceCookie, nonce);
    return nonce;
  }

  /** Refuses a form that was not shown to this browser. */
  function requireOwnForm(request: FastifyRequest, secret: string): void {
    const { csrf = '' } = (request.body ?? {}) as z.infer<typeof Form>;
    if (!isOwnOrigin(request.headers, origin) || !isTokenOf(secret, csrf))
      throw new ApiError('cross_site_request');
  }

  /** The signed-in user of a request. Undefined if there is none: then the reply is sent and leads to the sign-in. */
  async function requireUser(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn | undefined> {
    const found = passkeysOn ? await signIn.find(request.cookies[signInCookie]) : undefined;
    const isFirstPage = request.method === 'GET' && request.routeOptions.url?.endsWith('/you');
    if (found) await limit('your data', found.user._id, userLimit);
    // The first page shows the sign-in itself. All other addresses lead to it.
    else if (isFirstPage) sendSignIn(request, reply);
    else void reply.redirect(`${origin}${root}`, 303);
    return found;
  }

  function sendSignIn(request: FastifyRequest, reply: FastifyReply, fault?: 'refused' | 'unknown') {
    const nonce = passkeysOn ? nonceOf(request, reply) : '';
    const passkey = passkeysOn ? JSON.stringify(signIn.requestOptions(nonce)) : undefined;
    return sendPage(reply, pages.signIn(contextOf(request, nonce), { passkey, fault }));
  }

  type Act = (signedIn: SignedIn, request: FastifyRequest, reply: FastifyReply) => Promise<Page | undefined>;
  type Find = (data: YourData, params: Record<string, string>) => Ending | undefined;

  /**
   * Routes of an action that the user has to confirm: the page with the question, and its form.
   * @param find the action, as the parameters of the address name it; undefined for an unknown address
   * @param act carries out the action, and returns the page to show; undefined leads back to all data
   */
  function routeOf(path: string, params: z.ZodObject, { find, act }: { find: Find; act: Act }) {
    const routes: FastifyPluginAsyncZod = async (app) => {
      app.get(path, { schema: { params }, exposeHeadRoute: false }, async (request, reply) => {
        const signedIn = await requireUser(request, reply);
        if (!signedIn) return reply;
        const values = request.params as Record<string, string>;
        const ending = find(await yourData.of(signedIn.user), values);
        if (!ending) throw new ApiError('route_not_found');
        // The form is sent to the address of its page.
        const action = `${root}${path.replace(/:(\w+)/, (_, name) => values[name] ?? '')}`;
        return sendPage(reply, pages.ask({ ...contextOf(request, signedIn.cookie), action }, ending));
      });
      app.post(path, { schema: { params, body: Form } }, async (request, reply) => {
        const signedIn = await requireUser(request, reply);
        if (!signedIn) return reply;
        requireOwnForm(request, signedIn.cookie);
        const page = await act(signedIn, request, reply);
        return page ? sendPage(reply, page) : reply.redirect(`${origin}${root}`, 303);
      });
    };
    return routes;
  }

  const callOf = ({ id: requestId }: FastifyRequest) => ({ requestId });

  const stop = routeOf('/stop/:partner', Partner, {
    find({ partners }, { partner: id }) {
      const partner = partners.find(({ partnerId, canRead }) => partnerId === id && canRead);
      return partner && { kind: 'stop', partner };
    },
    async act({ user }, request) {
      await yourData.stopSharing(user, (request.params as z.infer<typeof Partner>).partner, callOf(request));
      return undefined;
    },
  });

  const remove = routeOf('/passkeys/:passkey', PasskeyParams, {
    find({ passkeys }, { passkey: id }) {
      const passkey = passkeys.find((one) => one.id === id);
      return passkey && { kind: 'remove', passkeyId: passkey.id, isLast: passkeys.length === 1 };
    },
    async act({ user, passkey }, request, reply) {
      const { passkey: id } = request.params as z.infer<typeof PasskeyParams>;
      await yourData.removePasskey(user, id, callOf(request));
      forgetPasskeyMark(reply);
      if (id !== passkey._id) return undefined;
      // The sign-in has ended with its passkey.
      cookies.clear(reply, signInCookie);
      return pages.done(contextOf(request, ''), 'removed');
    },
  });

  const erase = routeOf('/erase', z.object({}), {
    find: () => ({ kind: 'erase' }),
    async act({ user }, request, reply) {
      await yourData.erase(user, callOf(request));
      forgetPasskeyMark(reply);
      cookies.clear(reply, signInCookie);
      return pages.done(contextOf(request, ''), 'erased');
    },
  });

  return async (app) => {
    app.get('', { exposeHeadRoute: false }, async (request, reply) => {
      const signedIn = await requireUser(request, reply);
      if (!signedIn) return reply;
      const data = await yourData.of(signedIn.user);
      return sendPage(reply, pages.show(contextOf(request, signedIn.cookie), signedIn, data));
    });

    // The challenge in a page is valid for two minutes only; older pages ask for a new one here.
    app.get('/options', { exposeHeadRoute: false }, async (request, reply) => {
      if (!passkeysOn) throw new ApiError('route_not_found');
      return signIn.requestOptions(nonceOf(request, reply));
    });

    app.post('/sign-in', { schema: { body: SignInForm } }, async (request, reply) => {
      if (!passkeysOn) throw new ApiError('route_not_found');
      const nonce = request.cookies[nonceCookie] ?? '';
      requireOwnForm(request, nonce);
      await limit('sign-in', subscriberOf(request.ip), signInLimit);
      try {
        const cookie = await signIn.signIn(request.body.credential ?? '', nonce);
        // The browser may be signed in by another passkey, whose cookie is replaced now.
        await signIn.end(request.cookies[signInCookie]);
        cookies.clear(reply, nonceCookie);
        cookies.set(reply, signInCookie, cookie, signInLifetimeMs / 1000);
        return reply.redirect(`${origin}${root}`, 303);
      } catch (error) {
        const code = error instanceof ApiError ? error.code : undefined;
        if (code !== 'passkey_refused' && code !== 'passkey_unknown') throw error;
        // The user can try again at once, so the page is the sign-in. Log and header have the error all the same.
        noteFailure(request, error as ApiError);
        void reply.header(codeHeader, code);
        return sendSignIn(request, reply, code === 'passkey_unknown' ? 'unknown' : 'refused');
      }
    });

    app.post('/sign-out', { schema: { body: Form } }, async (request, reply) => {
      const signedIn = await requireUser(request, reply);
      if (!signedIn) return reply;
      requireOwnForm(request, signedIn.cookie);
      await signIn.end(signedIn.cookie);
      cookies.clear(reply, signInCookie);
      return reply.redirect(`${origin}${root}`, 303);
    });

    for (const routes of [stop, remove, erase]) await app.register(routes);
  };
}
