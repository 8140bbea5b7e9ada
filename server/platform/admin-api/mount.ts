import type { AnyRouter } from '@trpc/server';
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../database/connect.ts';
import { ApiError, unavailable } from '../errors.ts';
import { noteFailure } from '../http/answer-log.ts';
import { bodyText } from '../http/body-text.ts';
import { codeHeader, type ErrorRendering, renderErrors } from '../http/errors.ts';
import { parseJson } from '../http/json.ts';
import { requireOnce } from '../http/parameters.ts';
import { ownUnknownRoutes } from '../http/unknown-routes.ts';
import { type AdminContext, apiErrorOf, errorShape, toTrpcError } from './procedures.ts';

/** The most bytes of a request body. The largest request carries a logo in base64. */
const largestBody = 384 * 1024;

/** Sends an error that was thrown outside of a procedure in the format of tRPC. */
const asTrpc: ErrorRendering = (error, _request, reply) => {
  const shape = errorShape(error);
  return reply.header(codeHeader, shape.data.error).send({ error: shape });
};

/** Makes the context of a call. @throws ApiError if the caller may not call anything */
export type MakeContext = (
  request: FastifyRequest,
  reply: FastifyReply,
  procedure: string,
) => Promise<AdminContext>;

/**
 * Refuses a parameter or a member of the input that is given twice. tRPC would take the last one.
 * @throws ApiError `invalid_request`
 */
function requireUnambiguous({ method, query, body }: FastifyRequest): void {
  requireOnce(query);
  const input = method === 'POST' ? body : (query as { input?: string }).input;
  if (typeof input === 'string' && input !== '') parseJson(input, 'The input');
}

/**
 * Returns the routes of an admin API, at `/trpc`, and those of its dry runs, at `/trpc/dry-run`. Each request calls one
 * procedure only, so that a request id identifies one change.
 */
export function trpcRoutes(router: AnyRouter, makeContext: MakeContext): FastifyPluginAsync {
  /** Adds the code of an error to the answer and to the log. Queries are called by GET, and changes by POST. */
  function refused(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
    noteFailure(request, error);
    void reply.headers({ ...error.headers, [codeHeader]: errorShape(error).data.error });
    if (error.code === 'method_not_allowed')
      void reply.header('allow', request.method === 'POST' ? 'GET' : 'POST');
  }

  async function contextOf(
    request: FastifyRequest,
    reply: FastifyReply,
    procedure: string,
  ): Promise<AdminContext> {
    try {
      const context = await makeContext(request, reply, procedure);
      requireUnambiguous(request);
      return context;
    } catch (thrown) {
      // Only errors of procedures are converted by the procedure, and this one comes before it.
      const error = isUnavailable(thrown) ? unavailable(thrown) : thrown;
      throw error instanceof ApiError ? toTrpcError(error) : error;
    }
  }

  const routes: FastifyPluginAsync = async (scope) => {
    renderErrors(scope, asTrpc);
    ownUnknownRoutes(scope);
    scope.addHook('onRequest', (_request, reply, done) => {
      void reply.header('cache-control', 'no-store');
      done();
    });
    // tRPC parses the JSON itself, and `procedures.ts` checks its texts.
    scope.removeContentTypeParser('application/json');
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (_request: unknown, body: Buffer) => bodyText(body),
    );
    // A dry run has a path of its own, so that a server without dry runs refuses it, and does not make the change.
    for (const [route, isDryRun] of [
      ['/:path', false],
      ['/dry-run/:path', true],
    ] as const)
      scope.route({
        method: ['GET', 'POST'],
        url: route,
        // Fastify would answer HEAD with a 500, because tRPC makes a `Response`.
        exposeHeadRoute: false,
        bodyLimit: largestBody,
        async handler(request, reply) {
          const { path } = request.params as { path: string };
          await fastifyRequestHandler({
            router,
            req: request,
            res: reply,
            path,
            allowBatching: false,
            createContext: async ({ req, res, info }) => ({
              // Batches are not allowed, so there is only one call.
              ...(await contextOf(req, res, info.calls[0]?.path ?? '')),
              isDryRun,
            }),
            onError: ({ error, req }) => refused(apiErrorOf(error, path), req, reply),
          });
        },
      });
  };
  return async (scope) => void (await scope.register(routes, { prefix: '/trpc' }));
}
