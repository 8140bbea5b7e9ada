import { TRPCError } from '@trpc/server';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../platform/admin-api/procedures.ts';
import { ApiError } from '../platform/errors.ts';
import { noteFailure } from '../platform/http/answer-log.ts';
import { issueToken } from '../platform/http/csrf.ts';
import type { AdminRouter } from '../wiring/admin-router.ts';
import type { Browser } from './browser.ts';
import { describeError } from './error-words.ts';
import type { MemberCalls } from './member-calls.ts';
import type { Responses } from './responses.ts';
import { isAllowed } from './scope.ts';
import type { SignedIn } from './sign-in.ts';
import type { About, DocumentRow, Done, Given, PageContext, PageRow, PreviewConsent } from './views/page.ts';

interface Dependencies {
  router: AdminRouter;
  browser: Browser;
  calls: MemberCalls;
  responses: Responses;
  pages: readonly PageRow[];
  documents: readonly DocumentRow[];
  about: About;
  previewConsent: PreviewConsent;
  clock: { now(): number };
}

/** The path of a request below `/portal`. A proxy has removed the path of the base URL. */
const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0]?.slice('/portal'.length) || '/';

/** The texts of a form or a query. Of a repeated field, the last value counts. */
function textsOf(source: unknown): Given {
  const fields = Object.entries((source ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    fields.flatMap(([name, value]) => {
      const last = Array.isArray(value) ? value.at(-1) : value;
      return typeof last === 'string' ? [[name, last]] : [];
    }),
  );
}

/** Converts the error of a call into an ApiError, if it is a known one. */
function toApiError(error: unknown): unknown {
  if (!(error instanceof TRPCError)) return error;
  if (error.cause instanceof ApiError) return error.cause;
  return error.code === 'BAD_REQUEST' ? new ApiError('bad_input', { description: messageOf(error) }) : error;
}

/** Rethrows the error of a call, as an ApiError if it is a known one. */
function rethrow(error: unknown): never {
  throw toApiError(error);
}

/** The result of a page's form. */
interface Outcome {
  done?: Done;
  error?: ApiError;
  given?: Given;
}

/** The pages of signed-in members. Each calls the scoped procedures, as `/portal/trpc` does. */
export function pageRoutes({
  router,
  browser,
  calls,
  responses,
  pages,
  documents,
  about,
  previewConsent,
  clock,
}: Dependencies): FastifyPluginAsync {
  const { root } = browser;

  /** The member of a request. Without one, redirects to the sign-in, which leads back to this page. */
  async function requireMember(request: FastifyRequest, reply: FastifyReply): Promise<SignedIn | undefined> {
    const found = await calls.find(request);
    if (!found) {
      const path = pathOf(request);
      void reply.redirect(`${root}/sign-in?next=${encodeURIComponent(path)}`, 303);
    }
    return found;
  }

  function contextOf(request: FastifyRequest, signedIn: SignedIn): PageContext {
    const { _id: memberId, role, partnerId } = signedIn.member;
    return {
      api: router.createCaller(calls.contextOf(request, signedIn)),
      m: responses.messagesOf(request),
      language: responses.languageOf(request),
      role,
      memberId,
      partnerId,
      signedIn,
      request,
      about,
      previewConsent,
      now: clock.now(),
      params: textsOf(request.params),
      query: textsOf(request.query),
    };
  }

  /** The entries of the navigation that the member may follow. The entry of the present page's topic is `current`. */
  function navigationOf(present: PageRow, { role, m }: PageContext) {
    const topicOf = ({ path }: PageRow) => path.split('/')[1];
    return pages.flatMap((page) => {
      if (page.nav === undefined || !isAllowed(role, page.needs)) return [];
      const current = topicOf(page) === topicOf(present);
      return [{ href: `${root}${page.path}`, text: m[page.nav], current }];
    });
  }

  async function show(
    page: PageRow,
    { request, reply, signedIn }: { request: FastifyRequest; reply: FastifyReply; signedIn: SignedIn },
    { done, error, given = {} }: Outcome = {},
  ) {
    const { email = '', role } = signedIn.member;
    if (!isAllowed(role, page.needs)) throw new ApiError('not_permitted');
    const context = contextOf(request, signedIn);
    const view = await page.view(context).catch(rethrow);
    const { m } = context;
    const sections = [...(done?.sections ?? []), ...view.sections].map((section) => ({
      ...section,
      forms: section.forms?.filter((form) => isAllowed(role, form.needs ?? page.changes ?? page.needs)),
    }));
    const { name: partner } = await context.api.partners.show({ partnerId: context.partnerId });
    if (view.refresh !== undefined) void reply.header('refresh', String(view.refresh));
    return responses.send(request, reply, 'page', {
      status: error?.status ?? 200,
      ...view,
      sections,
      framed: view.sections.some(({ frame }) => frame !== undefined),
      csrf: issueToken(signedIn.secret),
      self: `${root}${pathOf(request)}`,
      who: { partner, email, role: m[role] },
      nav: navigationOf(page, context),
      told: 'done' in context.query && !error,
      secret: done?.secret,
      result: done?.result,
      error: error && { ...describeError(error, m), again: error.code === 'passkey_required' },
      given,
    });
  }

  /** The address to show after an action. The parameter `done` makes the page say that the change was made. */
  function addressAfter({ to, quiet }: Done, request: FastifyRequest): string {
    const address = `${root}${to ?? pathOf(request)}`;
    if (quiet) return address;
    return address.includes('?') ? `${address}&done` : `${address}?done`;
  }

  async function act(page: PageRow, request: FastifyRequest, reply: FastifyReply) {
    const signedIn = await requireMember(request, reply);
    if (!signedIn) return reply;
    browser.requireOwnForm(request, signedIn.secret);
    const given = textsOf(request.body);
    const requestContext = { request, reply, signedIn };
    const { act: name = '' } = given;
    const action = Object.hasOwn(page.actions ?? {}, name) ? page.actions?.[name] : undefined;
    if (!action) throw new ApiError('bad_input');
    try {
      const done: Done = (await action(contextOf(request, signedIn), given)) ?? {};
      if (done.secret || done.result || done.sections) return await show(page, requestContext, { done });
      return reply.redirect(addressAfter(done, request), 303);
    } catch (thrown) {
      const error = toApiError(thrown);
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      noteFailure(request, error);
      return show(page, requestContext, { error, given });
    }
  }

  return async (scope) => {
    for (const page of pages) {
      scope.get(page.path, { exposeHeadRoute: false }, async (request, reply) => {
        const signedIn = await requireMember(request, reply);
        return signedIn ? show(page, { request, reply, signedIn }) : reply;
      });
      if (page.actions) scope.post(page.path, (request, reply) => act(page, request, reply));
    }
    for (const row of documents)
      scope.get(row.path, { exposeHeadRoute: false }, async (request, reply) => {
        const signedIn = await requireMember(request, reply);
        if (!signedIn) return reply;
        if (!isAllowed(signedIn.member.role, row.needs)) throw new ApiError('not_permitted');
        const document = await row.document(contextOf(request, signedIn)).catch(rethrow);
        return responses.sendDocument(reply, document);
      });
  };
}
