import type { AnyRouter } from '@trpc/server';
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../database/connect.ts';
import { ApiError, unavailable } from '../errors.ts';
import { noteFailure } from '../http/answer-log.ts';
import { bodyText } from '../http/body-text.ts';
import { codeHeader, type ErrorRendering, renderErrors } from '../http/errors.ts';
import { type AdminContext, errorShape, toTrpcError } from './procedures.ts';

/** The most bytes of a request body. The largest request carries a logo in base64. */
const largestBody = 384 * 1024;

/** Sends an error that was thrown outside of a procedure in the format of tRPC. */
const asTrpc: ErrorRendering = (error, _request, reply) =>
  reply.header(codeHeader, error.code).send({ error: errorShape(error) });

/** Makes the context of a call. @throws ApiError if the caller may not call anything */
export type MakeContext = (
  request: FastifyRequest,
  reply: FastifyReply,
  procedure: string,
) => Promise<AdminContext>;

/**
 * Returns the routes of an admin API, at `/trpc`, and those of its dry runs, at `/trpc/dry-run`. Each request calls one
 * procedure only, so that a request id identifies one change.
 */
export function trpcRoutes(router: AnyRouter, makeContext: MakeContext): FastifyPluginAsync {
  async function contextOf(
    request: FastifyRequest,
    reply: FastifyReply,
    procedure: string,
  ): Promise<AdminContext> {
    try {
      return await makeContext(request, reply, procedure);
    } catch (thrown) {
      // Only errors of procedures are converted by the procedure, and this one comes before it.
      const error = isUnavailable(thrown) ? unavailable(thrown) : thrown;
      if (!(error instanceof ApiError)) throw error;
      noteFailure(request, error);
      void reply.headers(error.headers);
      throw toTrpcError(error);
    }
  }

  return async (scope) => {
    renderErrors(scope, asTrpc);
    // tRPC parses the JSON itself, and `procedures.ts` checks its texts.
    scope.removeContentTypeParser('application/json');
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (_request: unknown, body: Buffer) => bodyText(body),
    );
    // A dry run has a path of its own, so that a server without dry runs refuses it, and does not make the change.
    for (const [route, isDryRun] of [
      ['/trpc/:path', false],
      ['/trpc/dry-run/:path', true],
    ] as const)
      scope.all(route, { bodyLimit: largestBody }, async (request, reply) => {
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
        });
      });
  };
}
