import { initTRPC, TRPCError } from '@trpc/server';
import { errorTable, type ErrorCode } from '../../contracts/errors.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import { isUnavailable } from '../platform/database/connect.ts';
import type { Logger } from '../platform/logging.ts';

/** Who calls the admin API, and from where: goes into every audit entry. */
export interface AdminContext {
  operator: { id: string; name: string; role: 'support' | 'ops' | 'owner' };
  requestId: string;
  address: string;
  log: Logger;
}

const trpc = initTRPC.context<AdminContext>().create({
  errorFormatter({ shape, error }) {
    const code: ErrorCode = error.cause instanceof ApiError ? error.cause.code : fallbackCode(error.code);
    const retryAfter = error.cause instanceof ApiError ? error.cause.extras.retryAfter : undefined;
    return {
      code: shape.code,
      message: code === 'server_error' ? errorTable.server_error.text : shape.message,
      data: { error: code, exit: errorTable[code].exit, httpStatus: errorTable[code].status, retryAfter },
    };
  },
});

/** Errors of tRPC itself: input that does not fit its schema, an unknown procedure. */
function fallbackCode(code: TRPCError['code']): ErrorCode {
  if (code === 'BAD_REQUEST' || code === 'PARSE_ERROR') return 'bad_input';
  return code === 'NOT_FOUND' ? 'route_not_found' : 'server_error';
}

const translated = trpc.middleware(async ({ ctx, path, next }) => {
  const result = await next();
  if (result.ok) return result;
  const cause = result.error.cause;
  const known = isUnavailable(cause) ? unavailable(cause) : cause;
  if (known instanceof ApiError) {
    throw new TRPCError({ code: errorTable[known.code].trpc, message: known.message, cause: known });
  }
  if (result.error.code === 'INTERNAL_SERVER_ERROR') ctx.log.error({ err: cause, path }, 'admin procedure failed');
  return result;
});

export const router = trpc.router;
/** Every procedure of the admin API is built from this one. */
export const procedure = trpc.procedure.use(translated);
