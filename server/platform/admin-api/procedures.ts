import { initTRPC, TRPCError } from '@trpc/server';
import { ZodError } from 'zod';
import { type ErrorCode, errorTable } from '../../../contracts/errors.ts';
import type { Actor, CallResult } from '../database/audit-entry.ts';
import { isUnavailable } from '../database/connect.ts';
import { ApiError, unavailable } from '../errors.ts';
import { noteRead, type PersonalRead, type RecordRead, seesPeople } from './personal-data.ts';
import { describeRefusal, mayCall } from './roles.ts';

/** Who calls the admin API, and from where: goes into every audit entry. */
export interface AdminContext {
  operator: {
    id: string;
    name: string;
    role: 'support' | 'ops' | 'owner';
    expiresAt?: string | null;
    /** Of a member, who is no operator. */
    partnerId?: string;
  };
  requestId: string;
  address: string;
  /** Called with what a call failed of, for its line in the log. */
  failed?: (error: ApiError) => void;
  /** Called after each mutation that succeeded or was refused, so that none is without an entry in the audit log. */
  recordCall?: (actor: Actor, input: unknown, result: CallResult) => Promise<void>;
  /** Called before personal data are shown. */
  recordRead?: RecordRead;
  /**
   * Checks a call by a member of a partner, who has no operator's role. Returns the input with which the procedure runs.
   * @throws ApiError where the member may not call it so
   */
  bindInput?: (path: string, input: unknown) => Promise<unknown>;
}

const trpc = initTRPC.context<AdminContext>().create({
  errorFormatter({ shape, error }) {
    const code: ErrorCode = error.cause instanceof ApiError ? error.cause.code : fallbackCode(error.code);
    const retryAfter = error.cause instanceof ApiError ? error.cause.extras.retryAfter : undefined;
    return {
      code: shape.code,
      message: code === 'server_error' ? errorTable.server_error.text : messageOf(error),
      data: { error: code, exit: errorTable[code].exit, httpStatus: errorTable[code].status, retryAfter },
    };
  },
});

/** Faults of the input as `field: what to do`, one after another. */
export function messageOf(error: TRPCError): string {
  if (!(error.cause instanceof ZodError)) return error.message;
  return error.cause.issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
    .join('; ');
}

/** Errors of tRPC itself: input that does not fit its schema, an unknown procedure. */
function fallbackCode(code: TRPCError['code']): ErrorCode {
  if (code === 'BAD_REQUEST' || code === 'PARSE_ERROR') return 'bad_input';
  if (code === 'METHOD_NOT_SUPPORTED') return 'method_not_allowed';
  return code === 'NOT_FOUND' ? 'route_not_found' : 'server_error';
}

/** The error of the admin API for one of ours. */
export function toTrpcError(error: ApiError): TRPCError {
  return new TRPCError({ code: errorTable[error.code].trpc, message: error.message, cause: error });
}

const translated = trpc.middleware(async ({ ctx, path, next }) => {
  const result = await next();
  if (result.ok) return result;
  const cause = result.error.cause;
  const known = isUnavailable(cause) ? unavailable(cause) : cause;
  const { code } = result.error;
  const error =
    known instanceof ApiError
      ? known
      : new ApiError(fallbackCode(code), { description: messageOf(result.error), cause, detail: { path } });
  ctx.failed?.(error);
  if (known instanceof ApiError) throw toTrpcError(known);
  return result;
});

const permitted = trpc.middleware(async ({ ctx, path, getRawInput, next }) => {
  if (ctx.bindInput) {
    const input = await ctx.bindInput(path, await getRawInput());
    return next({ getRawInput: async () => input });
  }
  if (!mayCall(ctx.operator.role, path, await getRawInput())) {
    throw new ApiError('not_permitted', { description: describeRefusal(ctx.operator.role, path) });
  }
  return next();
});

/** Exit codes of refusals: not authorised, and refused by a rule or in conflict. */
const refusals: ReadonlySet<number> = new Set([3, 5]);

const recorded = trpc.middleware(async ({ ctx, path, type, getRawInput, next }) => {
  const { operator, requestId, address, recordRead } = ctx;
  const actor: Actor = {
    operatorId: operator.id,
    operatorName: operator.name,
    action: path,
    requestId,
    address,
    ...(operator.partnerId ? { partnerId: operator.partnerId } : {}),
  };
  const result = await next({
    ctx: {
      actor,
      /** Nothing is noted where the role does not see personal data: they are masked for it. */
      async noteRead(read: PersonalRead): Promise<void> {
        if (seesPeople(operator.role) && read.modes.length > 0) await noteRead(actor, read, recordRead);
      },
    },
  });
  const known = type === 'mutation' ? resultOf(result) : undefined;
  if (known) await ctx.recordCall?.(actor, await getRawInput(), known);
  return result;
});

type Ended = { ok: true; data: unknown } | { ok: false; error: TRPCError };

/** The audit log entry of a refused call; undefined for other errors and for a dry run. */
function resultOf(ended: Ended): CallResult | undefined {
  if (ended.ok) {
    const { dryRun, repeated } = (ended.data ?? {}) as { dryRun?: unknown; repeated?: unknown };
    return dryRun === true ? undefined : { outcome: 'done', repeated: repeated === true };
  }
  const { cause } = ended.error;
  const isRefusal = cause instanceof ApiError && refusals.has(errorTable[cause.code].exit);
  return isRefusal ? { outcome: 'refused', error: cause.code } : undefined;
}

export const router = trpc.router;
export const mergeRouters = trpc.mergeRouters;
/**
 * Every procedure of the admin API is built from this one. `ctx.actor` is the operator. Before a procedure shows
 * personal data, it notes that in the audit log with `ctx.noteRead`.
 */
export const procedure = trpc.procedure.use(translated).use(recorded).use(permitted);
