import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { SigningHeaders, StorefrontRequest, StorefrontResponse } from '../../../../contracts/storefront.ts';
import { GeneralError } from '../../../../contracts/verification.ts';
import type { Deadline } from '../../../platform/config/pace.ts';
import { ApiError } from '../../../platform/errors.ts';
import { bodyText } from '../../../platform/http/body-text.ts';
import { answerInTime, contextOf, type RequestContext } from '../../../platform/http/deadline.ts';
import { parseJson } from '../../../platform/http/json.ts';
import { admitAuthenticated } from '../../../platform/http/limits/in-flight.ts';
import { createRequestCallers } from '../../../platform/http/request-callers.ts';
import type { Caller } from './caller.ts';

interface Dependencies {
  authenticate: (headers: FastifyRequest['headers'], raw: Uint8Array) => Promise<Caller>;
  exchange: (
    request: StorefrontRequest,
    caller: Caller,
    context: RequestContext,
  ) => Promise<StorefrontResponse>;
  deadline: Deadline;
}

function parseBody(type: string | undefined, raw: Buffer): unknown {
  if (!/^application\/json *(;|$)/i.test(type ?? '')) {
    throw new ApiError('bad_input', { description: 'Content-Type must be application/json' });
  }
  return parseJson(bodyText(raw));
}

/** Returns the routes under `/api/integrations/storefront`. The signature of the raw body is checked before the body is parsed. */
export function storefrontRoutes({ authenticate, exchange, deadline }: Dependencies): FastifyPluginAsyncZod {
  const callers = createRequestCallers<Caller>();

  async function requireSignature(request: FastifyRequest): Promise<void> {
    // A request without a body has none to parse, and is signed like one with an empty body.
    const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const caller = await authenticate(request.headers, raw);
    callers.set(request, caller);
    await admitAuthenticated(request, caller.partner._id);
    request.body = parseBody(request.headers['content-type'], raw);
  }

  return async (scope) => {
    answerInTime(scope, deadline);
    // The signature covers the bytes of the body, so Fastify must not parse them.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, raw: Buffer) => raw,
    );
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.header('cache-control', 'no-store');
    });

    scope.post(
      '/verify/exchange',
      {
        preValidation: requireSignature,
        schema: {
          headers: SigningHeaders,
          body: StorefrontRequest,
          response: { 200: StorefrontResponse, '4xx': GeneralError, '5xx': GeneralError },
        },
      },
      async (request) => exchange(request.body, callers.require(request), contextOf(request)),
    );
  };
}
