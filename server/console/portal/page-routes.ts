import { TRPCError } from '@trpc/server';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../../platform/admin-api/procedures.ts';
import { ApiError } from '../../platform/errors.ts';
import { noteFailure } from '../../platform/http/answer-log.ts';
import { issueToken } from '../../platform/http/browser/csrf.ts';
import { requireOnce } from '../../platform/http/parameters.ts';
import { isAllowed } from './calls/scope.ts';
import { describeError, noPageError } from './error-words.ts';
import { hasFault, refusedFields, withFaults, withRefusedSearch } from './form-faults.ts';
import type { SignedIn } from './member-sessions.ts';
import { navigationOf } from './navigation.ts';
import type { PortalParts } from './parts.ts';
import { errorPage, findPath, notFoundPage, placeOf } from './views/find.ts';
import { askingView, questionOf, runOf } from './views/kit/ask.ts';
import { foundIn } from './views/kit/list.ts';
import { keepMode, modeIn, modeSwitch } from './views/kit/mode-switch.ts';
import type { ActionResult, DocumentRow, Form, Given, PageContext, PageRow, View } from './views/kit/page.ts';
import { queryOf } from './views/kit/text.ts';

/** The query parameter that makes a page say that the change was made. */
const doneParameter = 'done';

/** The texts of a form or a query. @throws ApiError `invalid_request` for a field that is given twice */
function textsOf(fields: unknown): Given {
  requireOnce(fields);
  const texts = Object.entries((fields ?? {}) as Record<string, unknown>);
  return Object.fromEntries(texts.filter((text): text is [string, string] => typeof text[1] === 'string'));
}

/** The search of a list page, without surrounding space. A field that was left empty is absent. */
const searchOf = (query: unknown): Given =>
  Object.fromEntries(
    Object.entries(textsOf(query))
      .map(([name, value]) => [name, value.trim()])
      .filter(([, value]) => value !== ''),
  );

/**
 * Unwraps the error of a procedure, which tRPC has wrapped. An input that the procedure's schema refuses becomes `bad_input`.
 * Any other error is returned as it is.
 */
function toApiError(error: unknown): unknown {
  if (!(error instanceof TRPCError)) return error;
  if (error.cause instanceof ApiError) return error.cause;
  if (error.code !== 'BAD_REQUEST') return error;
  return new ApiError('bad_input', { description: messageOf(error), cause: error });
}

function rethrow(error: unknown): never {
  throw toApiError(error);
}

interface MemberRequest {
  request: FastifyRequest;
  reply: FastifyReply;
  signedIn: SignedIn;
}

/** What a page shows besides its sections after a form was sent: the result, or the error with the values that were typed. */
interface Outcome {
  result?: ActionResult | undefined;
  error?: ApiError;
  given?: Given;
  /** The refused search of a list. The list shows its form again, without rows. */
  search?: Given;
  /** Shown instead of the page. */
  view?: View;
}

/** The pages of signed-in members. Each calls the scoped procedures, as `/portal/trpc` does. */
export function pageRoutes(
  parts: PortalParts,
  pages: readonly PageRow[],
  documents: readonly DocumentRow[],
): FastifyPluginAsync {
  const { router, browser, calls, responses, about, previewConsent, clock } = parts;
  const { root } = browser;

  /**
   * Finds the member who is signed in. If there is none, sends the browser to the sign-in page.
   * @param next the page to which the sign-in leads
   * @returns undefined if the answer is sent
   */
  async function memberOrSignInPage(
    request: FastifyRequest,
    reply: FastifyReply,
    next = addressOf(request),
  ): Promise<MemberRequest | undefined> {
    const signedIn = await calls.admit(request);
    if (signedIn) return { request, reply, signedIn };
    void reply.redirect(`${root}/sign-in?next=${encodeURIComponent(next)}`, 303);
    return undefined;
  }

  /** The path of the requested page, with its search. */
  function addressOf(request: FastifyRequest): string {
    const search = queryOf({ ...searchOf(request.query), [doneParameter]: undefined });
    return `${browser.pathOf(request)}${search && `?${search}`}`;
  }

  function contextOf({ request, signedIn }: MemberRequest, query = searchOf(request.query)): PageContext {
    const { _id: memberId, role, partnerId } = signedIn.member;
    const caller = calls.contextOf(request, signedIn);
    return {
      api: router.createCaller(caller),
      dryRunApi: router.createCaller({ ...caller, isDryRun: true, catchesDryRunEnd: true }),
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
      path: browser.pathOf(request),
      params: textsOf(request.params),
      query,
    };
  }

  /** Sends a page, with the outcome of a form. If the form was refused, the status of the page is that of the error. */
  async function show(
    page: PageRow,
    call: MemberRequest,
    { result, error, given = {}, search, view: shown }: Outcome = {},
  ) {
    const { request, reply, signedIn } = call;
    const { email = '', role } = signedIn.member;
    if (!isAllowed(role, page.needs)) throw new ApiError('not_permitted');
    const { mode } = searchOf(request.query);
    const context = search ? contextOf(call, mode === undefined ? {} : { mode }) : contextOf(call);
    const view = shown ?? (await page.view(context).catch(rethrow));
    const { m, language } = context;
    // A form is shown only to roles that may call the procedure behind it: its own (`form.needs`), or the page's default for forms
    // (`changes`), or the procedure that the page itself calls (`needs`).
    const mayUse = (form: Form | false) =>
      form !== false && isAllowed(role, form.needs ?? page.changes ?? page.needs);
    if (search && view.sections.every((section) => section.search === undefined)) throw error;
    const withOutcome = (form: Form | false) =>
      form && error && form.act === given['act'] ? withFaults(form, error, language) : form;
    const sections = [...(result?.sections ?? []), ...view.sections].map((section) => ({
      ...(search && error ? withRefusedSearch(section, search, error, language) : section),
      forms: section.forms?.filter(mayUse).map(withOutcome),
      found: error || result || shown ? undefined : foundIn(section, context),
    }));
    const refused = refusedFields(sections, { act: given['act'], isSearch: search !== undefined });
    const isDone = doneParameter in textsOf(request.query) && !error && !result && !shown;
    const done = isDone ? (view.done ?? { text: m.done }) : undefined;
    const found = sections.find((section) => section.found !== undefined)?.found;
    const { name: partner } = await context.api.partners.show({ partnerId: context.partnerId });
    const values = {
      title: view.title,
      refresh: view.refresh,
      // The first words of the window's title, which a screen reader reads first.
      outcome: error ? m.problem : result?.secret || result?.text ? m.done : (done?.text ?? found),
      sections,
      // The first of these has the focus: a field with a fault, the error, the result.
      hasFault: hasFault(sections),
      csrf: issueToken(signedIn.secret),
      path: context.path,
      address: addressOf(request),
      who: { partner, email, role: m[role] },
      nav: navigationOf(pages, page, { root, role, m, query: context.query }),
      mode: modeIn(context.query),
      modes: page.modes && modeSwitch(page.modes, context),
      keep: (to: string) => keepMode(to, context.query),
      done,
      secret: result?.secret,
      result: result?.text,
      error: error && {
        ...describeError(error, m, language, refused),
        again: error.code === 'passkey_required',
      },
      given,
    };
    return responses.send(request, reply, 'page', values, {
      status: error?.status ?? view.status ?? 200,
      hasFrame: sections.some(({ frame }) => frame !== undefined),
      hasPasskey: sections.some(({ forms = [] }) => forms.some((form) => form && form.passkey !== undefined)),
    });
  }

  /** Shows an error instead of a page, such as that of an unknown record: with the menu. @throws any error that is a fault of ours */
  function showError(page: Pick<PageRow, 'path'>, call: MemberRequest, error: unknown) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    noteFailure(call.request, error);
    return show(errorPage(error, page, pages), call, { error });
  }

  /** The address to show after an action. If the action changed something, the page there says so. */
  function addressAfter({ to, isUnchanged = false }: ActionResult, request: FastifyRequest): string {
    const address = `${root}${keepMode(to ?? browser.pathOf(request), searchOf(request.query))}`;
    if (isUnchanged) return address;
    return `${address}${address.includes('?') ? '&' : '?'}${doneParameter}`;
  }

  async function runAction(page: PageRow, request: FastifyRequest, reply: FastifyReply) {
    const call = await memberOrSignInPage(request, reply);
    if (!call) return reply;
    browser.requireOwnForm(request, call.signedIn.secret);
    const given = textsOf(request.body);
    const { act: name = '' } = given;
    // `hasOwn`, because every object also has names such as `constructor`.
    const action = Object.hasOwn(page.actions ?? {}, name) ? page.actions?.[name] : undefined;
    if (!action) throw new ApiError('bad_input');
    let result: ActionResult;
    try {
      const context = contextOf(call);
      const question = await questionOf(action, context, given);
      if (question) {
        const view = askingView(question, given, context);
        return show(page, call, { view });
      }
      result = (await runOf(action)(context, given)) ?? {};
    } catch (thrown) {
      const error = toApiError(thrown);
      // After a fault of the server, the page itself could probably not be shown. So the error handler shows a simpler one.
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      noteFailure(request, error);
      return show(page, call, { error, given }).catch((fault: unknown) => showError(page, call, fault));
    }
    const { secret, text, sections } = result;
    // No address leads to these parts of a result, so they are shown in the answer to the form.
    if (secret || text || sections) return show(page, call, { result });
    return reply.redirect(addressAfter(result, request), 303);
  }

  return async (scope) => {
    scope.get(findPath, { exposeHeadRoute: false }, async (request, reply) => {
      const call = await memberOrSignInPage(request, reply);
      if (!call) return reply;
      const query = searchOf(request.query);
      const place = placeOf(query['id'] ?? '', call.signedIn.member.partnerId);
      if ('why' in place) return show(notFoundPage(place.why), call);
      return reply.redirect(`${root}${keepMode(place.to, query)}`, 303);
    });
    for (const page of pages) {
      scope.get(page.path, { exposeHeadRoute: false }, async (request, reply) => {
        const call = await memberOrSignInPage(request, reply);
        if (!call) return reply;
        return show(page, call)
          .catch((error: unknown) => {
            const { mode: _mode, ...search } = searchOf(request.query);
            const isRefused = error instanceof ApiError && ['bad_input', 'not_found'].includes(error.code);
            if (!isRefused || Object.keys(search).length === 0) throw error;
            noteFailure(request, error);
            return show(page, call, { error, search });
          })
          .catch((error: unknown) => showError(page, call, error));
      });
      const { actions, largestForm: bodyLimit } = page;
      if (actions)
        scope.post(page.path, bodyLimit ? { bodyLimit } : {}, (request, reply) =>
          runAction(page, request, reply),
        );
    }
    scope.get('/*', { exposeHeadRoute: false, config: { isFallback: true } }, async (request, reply) => {
      const signedIn = await calls.admit(request);
      const error = scope.unknownRoute(request);
      if (!signedIn || error.code !== 'route_not_found') throw error;
      const path = browser.pathOf(request);
      return showError({ path }, { request, reply, signedIn }, noPageError(path));
    });
    for (const row of documents)
      scope.get(row.path, { exposeHeadRoute: false }, async (request, reply) => {
        // A browser that saves a file stays at the sign-in. So the sign-in leads to the page that has the link to the file.
        const pageOfDocument = addressOf(request).replace(/\/[^/?]*(?=\?|$)/, '');
        const call = await memberOrSignInPage(request, reply, pageOfDocument);
        if (!call) return reply;
        if (!isAllowed(call.signedIn.member.role, row.needs)) throw new ApiError('not_permitted');
        const document = await row.document(contextOf(call)).catch(rethrow);
        return responses.sendDocument(reply, document);
      });
  };
}
