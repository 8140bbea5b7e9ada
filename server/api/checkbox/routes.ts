import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { CheckboxHeaders, CheckboxRequest, CheckboxResponse } from '../../../contracts/checkbox.ts';
import { GeneralError } from '../../../contracts/verification.ts';
import type { Deadline } from '../../platform/config/pace.ts';
import { answerInTime, contextOf, type RequestContext } from '../../platform/http/deadline.ts';
import { toApiError } from '../../platform/http/errors.ts';
import { admitAuthenticated } from '../../platform/http/limits/in-flight.ts';
import { createRequestCallers } from '../../platform/http/request-callers.ts';
import type { KeyHolder } from './resolve.ts';
import type { AdmitUnbilled } from './unbilled.ts';

interface Dependencies {
  /** @throws ApiError `missing_api_key`, `invalid_api_key` */
  authenticate: (authorization: string | undefined) => Promise<KeyHolder>;
  admitUnbilled: AdmitUnbilled;
  resolve: (
    request: CheckboxRequest,
    caller: KeyHolder & { idempotencyKey: string; context: RequestContext },
  ) => Promise<CheckboxResponse>;
  deadline: Deadline;
}

/** The routes under `/api/checkbox`. The caller is authenticated before the request is checked. */
export function checkboxRoutes(dependencies: Dependencies): FastifyPluginAsyncZod {
  const { authenticate, admitUnbilled, resolve, deadline } = dependencies;
  const accounts = createRequestCallers<KeyHolder>();

  return async (scope) => {
    answerInTime(scope, deadline);
    scope.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'no-store');
      const account = await authenticate(request.headers.authorization);
      accounts.set(request, account);
      await admitAuthenticated(request, account.partner._id);
    });
    // Counts refusals, because they cost work but are not billed. An error that is thrown here goes on to the server's own handler.
    scope.setErrorHandler(async (thrown, request) => {
      const error = toApiError(thrown, request);
      const account = accounts.find(request);
      const isFaultOfServer = error.status >= 500;
      const isOverLimit = error.code === 'rate_limited';
      if (account && !isFaultOfServer && !isOverLimit) await admitUnbilled(account.key._id);
      throw error;
    });

    scope.post(
      '/resolve',
      {
        schema: {
          headers: CheckboxHeaders,
          body: CheckboxRequest,
          response: { 200: CheckboxResponse, '4xx': GeneralError, '5xx': GeneralError },
        },
      },
      async (request) => {
        const idempotencyKey = request.headers['idempotency-key'];
        return resolve(request.body, {
          ...accounts.require(request),
          idempotencyKey,
          context: contextOf(request),
        });
      },
    );
  };
}
