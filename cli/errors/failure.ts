import { type ErrorCode, errorTable, isErrorCode } from '../../contracts/errors.ts';
import { localTimes, printable, printableJson } from '../output/format.ts';
import { type ProgramName, rewordFor } from '../program/program.ts';

/** Exit codes of `svcadmin` and `svc`. */
export const exits = {
  ok: 0,
  failure: 1,
  usage: 2,
  notAuthorised: 3,
  notFound: 4,
  refused: 5,
  rateLimited: 6,
  unreachable: 7,
  /** Ctrl-C or Ctrl-D at a question: 128 plus the number of SIGINT. */
  cancelled: 130,
} as const;
export type Exit = (typeof exits)[keyof typeof exits];

/** The errors of the command line itself, with their exit codes. All other errors are of the server. */
const localExits = {
  usage: exits.usage,
  not_confirmed: exits.failure,
  cancelled: exits.cancelled,
  no_token: exits.notAuthorised,
  unreachable: exits.unreachable,
  not_the_admin_api: exits.unreachable,
  unknown_command: exits.usage,
  secret_given: exits.usage,
  failure: exits.failure,
} as const;

/** How a command failed. */
export interface Failure {
  code: ErrorCode | keyof typeof localExits;
  message: string;
  /** The exit code, if it is not that of the code. */
  exit?: Exit;
  /** Advice for the operator. */
  hint?: string | undefined;
}

/** Returns the exit code of a failure. */
export function exitOf({ code, exit }: Failure): Exit {
  if (exit !== undefined) return exit;
  return isErrorCode(code) ? errorTable[code].exit : localExits[code];
}

/** A failure of the command itself, not of the server. */
export class CommandError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'CommandError';
    this.failure = failure;
  }
}

/** Returns the error for wrong use of a command, exit 2. */
export function usageError(message: string, hint?: string): CommandError {
  return new CommandError({ code: 'usage', message, hint });
}

interface TrpcError extends Error {
  data?: { error?: unknown; retryAfter?: unknown } | null;
  meta?: {
    response?: { status: number; headers: { get(name: string): string | null } };
    responseJSON?: { error?: unknown };
  };
}

/** Recognises tRPC's client error by its shape. Help and completion load this module, and do not need the client. */
function isTrpcError(error: unknown): error is TrpcError {
  return error instanceof Error && error.name === 'TRPCClientError';
}

const hints: Partial<Record<ErrorCode, string>> = {
  not_permitted: '`svcadmin whoami` shows your role; an owner can create an operator with another one.',
  route_not_found: 'The server may be older than this svcadmin: compare with `svcadmin status`.',
  reason_required: 'Give it with --reason TEXT, such as the number of a ticket.',
};

/** Advice for members, used instead of the advice for operators. */
const hintsOfSvc: Partial<Record<Failure['code'], (url: string) => string>> = {
  unauthorized: (url) => `Sign in again with \`svc login --url ${url}\`.`,
  passkey_required: (url) =>
    `Secrets, addresses and members can be changed for 30 minutes after your passkey. Open ${url}/portal/devices, choose "Allow changes" for this login, and repeat the command.`,
  not_permitted: () => '`svc whoami` shows your role. An owner of your company can change it in the portal.',
  route_not_found: () => 'Is the portal on (SVC_PORTAL=on)? The server may also be older than this svc.',
  unreachable: () =>
    'Is the address right? Give another with --url or SVC_BASE_URL; --ca names a certificate authority of its own.',
  not_the_admin_api: () => 'Give the address of the service, without a path, with --url or SVC_BASE_URL.',
};

/** A user may be unknown because of an erasure. Only the audit log still has the id then. */
function hintForUser(message: string): string | undefined {
  const userId = /^No user (?<id>usr_[0-9A-Za-z]{22})$/.exec(message)?.groups?.['id'];
  return userId && `\`svcadmin audit-log list --user ${userId}\` shows whether the user was erased.`;
}

function tokenHint(from: string | undefined): string {
  if (from === undefined) return 'Sign in with `svcadmin login`, or set SVCADMIN_TOKEN.';
  if (from === 'SVCADMIN_TOKEN')
    return 'The token is that of SVCADMIN_TOKEN: correct the variable, or unset it.';
  return `The token is that of ${from}: sign in with \`svcadmin login\`, or set SVCADMIN_TOKEN.`;
}

/** @param retryAfter seconds until the call may succeed, or anything else if the server named no time */
function fromServer(
  code: ErrorCode,
  message: string,
  { retryAfter, tokenFrom }: { retryAfter: unknown; tokenFrom: string | undefined },
): Failure {
  const advice = code === 'operator_unknown' ? tokenHint(tokenFrom) : (hints[code] ?? hintForUser(message));
  // If waiting helps, nothing else has to be done.
  const hint = typeof retryAfter === 'number' ? `Try again in ${Math.ceil(retryAfter)} s.` : advice;
  return { code, message, hint };
}

/** Returns the message of the innermost cause, which says why a request failed. */
export function innermost(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause) return innermost(error.cause);
  // Node.js tries all addresses of a host, and collects their errors.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  if (first) return innermost(first);
  if (error.message) return error.message;
  return 'code' in error ? String(error.code) : error.name;
}

/** Node.js error codes for a certificate that no trusted authority has signed. */
const untrusted: ReadonlySet<unknown> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const isUntrusted = (error: unknown): boolean =>
  error instanceof Error && (('code' in error && untrusted.has(error.code)) || isUntrusted(error.cause));

function unreachableHint(error: unknown): string {
  if (isUntrusted(error))
    return 'The certificate is of an authority that this machine does not trust: give the file of its certificate (PEM) by --ca, or set NODE_EXTRA_CA_CERTS to the file.';
  return 'Is it running? Give another address with --url or SVCADMIN_URL; `svcadmin doctor` looks closer.';
}

/** The address of a call and its origin, for messages. */
export interface ConnectionSource {
  url: string;
  /** The place where the address was set. */
  urlFrom?: string;
  /** The place where the token was set. */
  tokenFrom?: string;
  /** The program. The default is `svcadmin`. */
  program?: ProgramName;
}

/** Converts any thrown value into a failure with a message, a hint and an exit code. */
export function toFailure(thrown: unknown, source: ConnectionSource): Failure {
  const failure = failureOf(thrown, source);
  if (source.program !== 'svc') return failure;
  // An error of the command already has a hint.
  const memberHint = thrown instanceof CommandError ? undefined : hintsOfSvc[failure.code]?.(source.url);
  const hint = memberHint ?? failure.hint;
  const reworded = (text: string) => rewordFor('svc', text);
  return { ...failure, message: reworded(failure.message), hint: hint && reworded(hint) };
}

function failureOf(thrown: unknown, source: ConnectionSource): Failure {
  if (thrown instanceof CommandError) return thrown.failure;
  if (isTrpcError(thrown)) return failureOfCall(thrown, source);
  const { message = String(thrown), oclif } = thrown as { message?: string; oclif?: { exit?: number } };
  if (oclif?.exit === exits.usage) {
    // The parser of oclif refuses the command line. Its last sentence is cut, because the hint of `AdminCommand` has the help.
    return { code: 'usage', message: message.replace(/\nSee more help with --help$/, '') };
  }
  return { code: 'failure', message };
}

/** Returns the failure of a call to the server. The error is of the server, of a proxy or of the network. */
function failureOfCall(thrown: TrpcError, { url: address, urlFrom, tokenFrom }: ConnectionSource): Failure {
  const { data, message: text } = thrown;
  if (isErrorCode(data?.error))
    return fromServer(data.error, text, { retryAfter: data.retryAfter, tokenFrom });
  const url = urlFrom === undefined ? address : `${address} (from ${urlFrom})`;
  const { response, responseJSON } = thrown.meta ?? {};
  // A process that is starting, or a proxy in front of it, sends this status.
  if (response?.status === 503) {
    const reason = typeof responseJSON?.error === 'string' ? `: ${responseJSON.error}` : '';
    const retryAfter = Number(response.headers.get('retry-after')) || undefined;
    return fromServer('service_unavailable', `${url} is not ready${reason}`, { retryAfter, tokenFrom });
  }
  // The response is not of tRPC: it is not JSON, or JSON of another shape.
  if (/JSON|transform response/.test(text))
    return {
      code: 'not_the_admin_api',
      message: `${url} answered, but it is not the API of the server`,
      hint: 'Give its address with --url or SVCADMIN_URL.',
    };
  const message = `Cannot reach the server at ${url}: ${innermost(thrown)}`;
  return { code: 'unreachable', message, hint: unreachableHint(thrown) };
}

/** Renders a failure for stderr: as lines for a person, or as one line of JSON for a program. */
export function renderFailure({ code, message, hint }: Failure, json: boolean): string {
  if (json) return printableJson({ error: { code, message, hint } });
  // The person has cancelled the command, so that this is no error.
  if (code === 'cancelled') return message;
  const lines = [
    `Error: ${localTimes(message)}${isErrorCode(code) ? ` (${code})` : ''}`,
    ...(hint ? [hint] : []),
  ];
  return printable(lines.join('\n'));
}
