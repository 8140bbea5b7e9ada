import { initTRPC, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { ZodError, type z } from 'zod';
import { withPeriodInOrder } from '../../../contracts/admin/period.ts';
import { type ErrorCode, errorTable } from '../../../contracts/errors.ts';
import { inputFault } from '../../../contracts/input-text.ts';
import type { Actor, AuditRule, CallResult } from '../database/audit/audit-entry.ts';
import { DryRunEnd } from '../database/audit/dry-run.ts';
import { isUnavailable } from '../database/connect.ts';
import { ApiError, unavailable } from '../errors.ts';
import { instructionOf } from '../validation-words.ts';
import { dryRunnable } from './dry-runs.ts';
import { noteRead, type PersonalRead, type RecordRead, seesPeople } from './personal-data.ts';
import { describeRefusal, mayCall, type Role } from './roles.ts';

/** The caller of the admin API, for every audit entry. */
export interface AdminContext {
  operator: {
    id: string;
    name: string;
    role: Role;
    expiresAt?: string | null;
    /** The partner of a member. Absent for operators. */
    partnerId?: string;
  };
  requestId: string;
  address: string;
  /** Whether a mutation only checks what it would change. */
  isDryRun?: boolean;
  /** Whether the caller catches the `DryRunEnd` of a dry run that passed. Other callers get a success. */
  catchesDryRunEnd?: boolean;
  /** Called with the error of a failed call, for the log. */
  failed?: (error: ApiError) => void;
  /** Called after each mutation that succeeded or was refused, so that the audit log has an entry for each. */
  recordCall?: (actor: Actor, input: unknown, result: CallResult, rule: AuditRule) => Promise<void>;
  /** Called before personal data are shown. */
  recordRead?: RecordRead;
  /** Called before a call waits for a partner's server. The request then takes no capacity from other requests. */
  leavePlace?: () => void;
  /**
   * Checks a call by a member of a partner. Returns the input with which the procedure runs.
   * @throws ApiError if the member may not make this call
   */
  bindInput?: (path: string, input: unknown) => Promise<unknown>;
}

/** The code of an error of ours in the data of the response, with what programs need of it. */
const dataOf = (code: ErrorCode, retryAfter: number | undefined) => ({
  // The checks of a body, which all borders share, have the code of the REST endpoints.
  error: code === 'invalid_request' ? 'bad_input' : code,
  exit: errorTable[code].exit,
  httpStatus: errorTable[code].status,
  retryAfter,
});

const trpc = initTRPC
  .context<AdminContext>()
  .meta<{ audit?: AuditRule }>()
  .create({
    errorFormatter({ shape, error }) {
      const { code, extras } = apiErrorOf(error);
      return {
        code: shape.code,
        // The text of an unknown error could contain secrets.
        message: code === 'server_error' ? errorTable.server_error.text : messageOf(error),
        data: dataOf(code, extras.retryAfter),
      };
    },
  });

/** An error that was thrown before tRPC was called, in the format of tRPC. */
export const errorShape = ({ code, message, extras }: ApiError) => ({
  code: TRPC_ERROR_CODES_BY_KEY[errorTable[code].trpc],
  message,
  data: dataOf(code, extras.retryAfter),
});

/** The most faults of an input that an error names, and the most characters of each. */
const mostFaults = 10;
const longestFault = 200;

/** The first faults of an input in one line, each as `field: message`. */
export function messageOf(error: TRPCError): string {
  if (!(error.cause instanceof ZodError)) return error.message;
  const { issues } = error.cause;
  const faults = issues
    .slice(0, mostFaults)
    .map(({ path, message }) => {
      const instruction = instructionOf(message);
      if (path.length > 0) return `${path.join('.')}: ${instruction ?? message}`;
      return instruction === undefined ? message : `The input ${instruction}`;
    })
    .map((fault) => (fault.length > longestFault ? `${fault.slice(0, longestFault)}…` : fault));
  const more = issues.length - faults.length;
  return [...faults, ...(more > 0 ? [`and ${more} more faults`] : [])].join('; ');
}

/** Errors of tRPC itself: input that does not fit its schema, an unknown procedure, a wrong content type. */
function fallbackCode(error: TRPCError): ErrorCode {
  if (error.code === 'METHOD_NOT_SUPPORTED') return 'method_not_allowed';
  if (error.code === 'NOT_FOUND') return 'route_not_found';
  return getHTTPStatusCodeFromError(error) < 500 ? 'bad_input' : 'server_error';
}

/** Our error behind an error of tRPC, or one that describes it. @param path the procedure, for the log */
export function apiErrorOf(error: TRPCError, path?: string): ApiError {
  const { cause } = error;
  if (cause instanceof ApiError) return cause;
  return new ApiError(fallbackCode(error), { description: messageOf(error), cause, detail: { path } });
}

/** Converts one of our errors into an error of tRPC. */
export function toTrpcError(error: ApiError): TRPCError {
  return new TRPCError({ code: errorTable[error.code].trpc, message: error.message, cause: error });
}

/** Reports the error of a failed call to the log. Converts our errors, and those of an unavailable database, for tRPC. */
const translated = trpc.middleware(async ({ ctx, path, next }) => {
  const result = await next();
  if (result.ok) return result;
  const { cause } = result.error;
  // What a dry run returns in place of the output of the real call.
  if (cause instanceof DryRunEnd && !ctx.catchesDryRunEnd)
    return { ...result, ok: true, data: { dryRun: true, changes: cause.changes } };
  if (cause instanceof DryRunEnd) return result;
  const error = isUnavailable(cause) ? unavailable(cause) : cause;
  if (error instanceof ApiError) {
    ctx.failed?.(error);
    throw toTrpcError(error);
  }
  // An error of tRPC itself is only logged here. It is sent as it is, and `errorFormatter` adds one of our codes.
  ctx.failed?.(apiErrorOf(result.error, path));
  return result;
});

/** Refuses an input that has too many values, or text that is no Unicode, before any other code reads it. */
const readable = trpc.middleware(async ({ getRawInput, next }) => {
  const fault = inputFault(await getRawInput());
  if (fault) throw new ApiError('bad_input', { description: fault });
  return next();
});

/** Refuses calls that the operator's role, or a member's scope, does not allow. */
const permitted = trpc.middleware(async ({ ctx, path, getRawInput, next }) => {
  // A member of a partner has no role of an operator, so `bindInput` alone decides.
  if (ctx.bindInput) {
    const input = await ctx.bindInput(path, await getRawInput());
    return next({ getRawInput: async () => input });
  }
  if (!mayCall(ctx.operator.role, path, await getRawInput())) {
    throw new ApiError('not_permitted', { description: describeRefusal(ctx.operator.role, path) });
  }
  return next();
});

/** Refuses a dry run of a mutation that has none, because it would write. */
const dryRunAllowed = trpc.middleware(async ({ ctx, path, type, next }) => {
  if (ctx.isDryRun && type === 'mutation' && !dryRunnable.has(path))
    throw new ApiError('bad_input', { description: `${path} has no dry run` });
  return next();
});

/** The exit codes of refusals: 3 (not authorised) and 5 (refused by a rule, or in conflict). */
const refusals: ReadonlySet<number> = new Set([3, 5]);

/** Records each mutation in the audit log by its rule, also if it was refused. */
const recorded = trpc.middleware(async ({ ctx, path, meta, getRawInput, next }) => {
  const { operator, requestId, address, recordRead } = ctx;
  const caller: Actor = {
    operatorId: operator.id,
    operatorName: operator.name,
    action: path,
    requestId,
    address,
    ...(operator.partnerId ? { partnerId: operator.partnerId } : { operatorRole: operator.role }),
  };
  const actor: Actor = { ...caller, ...(ctx.isDryRun ? { isDryRun: true } : {}) };
  const result = await next({
    ctx: {
      actor,
      leavePlace: () => ctx.leavePlace?.(),
      /** Records nothing if the role sees personal data only masked, or if the result shows no person. */
      async noteRead(read: PersonalRead): Promise<void> {
        if (seesPeople(operator.role) && read.modes.length > 0) await noteRead(caller, read, recordRead);
      },
    },
  });
  // A dry run changes nothing. What it refuses is recorded: commands and pages check a change by it before they ask.
  const rule = ctx.isDryRun && result.ok ? undefined : meta?.audit;
  const callResult = rule && resultOf(result);
  if (callResult) await ctx.recordCall?.(caller, await getRawInput(), callResult, rule);
  return result;
});

type Ended = { ok: true; data: unknown } | { ok: false; error: TRPCError };

/**
 * The result of a call for the audit log. Undefined for a preview, which changes nothing, and for errors that are no refusals,
 * such as malformed input. `repeated` is the procedure's own field: an earlier call has done the same.
 */
function resultOf(ended: Ended): CallResult | undefined {
  if (ended.ok) {
    const { dryRun, repeated } = (ended.data ?? {}) as { dryRun?: unknown; repeated?: unknown };
    return dryRun === true ? undefined : { outcome: 'done', repeated: repeated === true };
  }
  return refusalOf(ended.error.cause);
}

/** The result of a call that an error ended, for the audit log; undefined for an error that is no refusal. */
export function refusalOf(error: unknown): CallResult | undefined {
  const isRefusal = error instanceof ApiError && refusals.has(errorTable[error.code].exit);
  return isRefusal ? { outcome: 'refused', error: error.code } : undefined;
}

export const router = trpc.router;
export const mergeRouters = trpc.mergeRouters;
/**
 * Every procedure of the admin API is built from this one. `ctx.actor` is the operator. A procedure that shows personal
 * data calls `ctx.noteRead` first, which records the read in the audit log.
 */
const procedure = trpc.procedure
  .use(translated)
  .use(readable)
  .use(recorded)
  .use(permitted)
  .use(dryRunAllowed);

/**
 * What a procedure knows of its caller. A procedure that shows personal data calls `noteRead` first, and one that waits for a
 * partner's server calls `leavePlace` first.
 */
type ProcedureContext = Pick<AdminContext, 'operator'> & {
  noteRead: (read: PersonalRead) => Promise<void>;
  leavePlace: () => void;
};

/**
 * Makes a procedure that reads. The types of the builder do not resolve for a generic schema, hence the assertions.
 * @param run makes the output from the checked input
 */
export const query = <Input extends z.ZodType, Output extends z.ZodType>(
  input: Input,
  output: Output,
  run: (input: z.output<Input>, context: ProcedureContext) => z.input<Output> | Promise<z.input<Output>>,
) =>
  procedure
    .input(withPeriodInOrder(input))
    .output(output)
    .query((call) => run(call.input as z.output<Input>, call.ctx) as never);

/** An input with the field that names the target. A wallet is named by two fields, and null by none. */
type Naming<Target extends string | null> = Target extends string
  ? { [Field in Exclude<Target, 'wallet'>]?: unknown }
  : unknown;

/**
 * Returns a function that makes procedures that change something.
 * @param audit what the audit log records of a call
 */
export const mutation =
  <const Target extends string | null>(audit: AuditRule<Target>) =>
  /** @param run makes the change for the operator or member who acts, and the output */
  <Input extends z.ZodType<Naming<Target>>, Output extends z.ZodType>(
    input: Input,
    output: Output,
    run: (
      input: z.output<Input>,
      actor: Actor,
      context: ProcedureContext,
    ) => z.input<Output> | Promise<z.input<Output>>,
  ) =>
    procedure
      .meta({ audit })
      .input(withPeriodInOrder(input))
      .output(output)
      .mutation((call) => run(call.input as z.output<Input>, call.ctx.actor, call.ctx) as never);
