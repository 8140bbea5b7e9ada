import { type ErrorCode, errorTable, isErrorCode } from '../../contracts/errors.ts';
import { localTimes } from '../output/format.ts';
import { inWordsOf, type ProgramName } from '../program/program.ts';

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
  /** Ctrl-C at a question: 128 and the number of SIGINT. */
  cancelled: 130,
} as const;
export type Exit = (typeof exits)[keyof typeof exits];

/** Codes that the command line itself fails with; all others are the server's. */
type LocalCode =
  | 'usage'
  | 'not_confirmed'
  | 'cancelled'
  | 'no_token'
  | 'unreachable'
  | 'not_the_admin_api'
  | 'unknown_command'
  | 'secret_given'
  | 'failure';

/** How a command failed. */
export interface Failure {
  code: ErrorCode | LocalCode;
  message: string;
  exit: Exit;
  /** What the operator can do about it. */
  hint?: string;
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

/** @throws CommandError always: wrong use of a command, exit 2 */
export function usageError(message: string, hint?: string): CommandError {
  return new CommandError({ code: 'usage', message, exit: exits.usage, ...(hint && { hint }) });
}

interface ServerError {
  error?: unknown;
  retryAfter?: unknown;
}

interface TrpcError extends Error {
  data?: ServerError | null;
  meta?: { response?: Response; responseJSON?: { error?: unknown } };
}

/** tRPC's client error, recognised by its shape so that this module need not load the client. */
function isTrpcError(error: unknown): error is TrpcError {
  return error instanceof Error && error.name === 'TRPCClientError';
}

interface Context {
  retryAfter: unknown;
  tokenFrom: string | undefined;
}

const hints: Partial<Record<ErrorCode, string>> = {
  not_permitted: '`svcadmin whoami` shows your role; an owner can create an operator with another one.',
  route_not_found: 'The server may be older than this svcadmin: compare with `svcadmin status`.',
  reason_required: 'Give it with --reason TEXT, such as the number of a ticket.',
};

/** What a member can do about it, in place of what an operator can. */
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

function tokenHint(from: string | undefined): string {
  if (from === undefined) return 'Sign in with `svcadmin login`, or set SVCADMIN_TOKEN.';
  if (from === 'SVCADMIN_TOKEN')
    return 'The token is that of SVCADMIN_TOKEN: correct the variable, or unset it.';
  return `The token is that of ${from}: sign in with \`svcadmin login\`, or set SVCADMIN_TOKEN.`;
}

function fromServer(code: ErrorCode, message: string, { retryAfter, tokenFrom }: Context): Failure {
  const advice = code === 'operator_unknown' ? tokenHint(tokenFrom) : hints[code];
  const hint = typeof retryAfter === 'number' ? `Try again in ${Math.ceil(retryAfter)} s.` : advice;
  return { code, message, exit: errorTable[code].exit, ...(hint && { hint }) };
}

/** The innermost reason: fetch says only "fetch failed" and wraps what happened. */
function innermost(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  if (cause) return innermost(cause);
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : undefined;
  return first ? innermost(first) : message || ('code' in error ? String(error.code) : error.name);
}

/** Codes of Node.js for a certificate that no trusted authority has signed. */
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

/** Where a call went, for messages. */
export interface ConnectionSource {
  url: string;
  /** Where the address was set. */
  urlFrom?: string;
  /** Where the token was set. */
  tokenFrom?: string;
  /** Without it, `svcadmin`. */
  program?: ProgramName;
}

/** What `thrown` means for the person and the exit code. */
export function toFailure(thrown: unknown, source: ConnectionSource): Failure {
  const failure = failureOf(thrown, source);
  if (source.program !== 'svc') return failure;
  // An error of the command has its hint, with the address that it knew.
  const own = thrown instanceof CommandError ? undefined : hintsOfSvc[failure.code]?.(source.url);
  const hint = own ?? failure.hint;
  const words = (text: string) => inWordsOf('svc', text);
  return { ...failure, message: words(failure.message), ...(hint && { hint: words(hint) }) };
}

function failureOf(thrown: unknown, { url: address, urlFrom, tokenFrom }: ConnectionSource): Failure {
  const url = urlFrom === undefined ? address : `${address} (from ${urlFrom})`;
  if (thrown instanceof CommandError) return thrown.failure;
  if (isTrpcError(thrown)) {
    const { data } = thrown;
    if (isErrorCode(data?.error)) {
      const { error, retryAfter } = data;
      return fromServer(error, thrown.message, { retryAfter, tokenFrom });
    }
    const { response, responseJSON } = thrown.meta ?? {};
    // A process that starts, or a proxy before it, answers so.
    if (response?.status === 503) {
      const reason = typeof responseJSON?.error === 'string' ? `: ${responseJSON.error}` : '';
      const retryAfter = Number(response.headers.get('retry-after')) || undefined;
      return fromServer('service_unavailable', `${url} is not ready${reason}`, { retryAfter, tokenFrom });
    }
    // Something answered that is not tRPC: no JSON, or JSON of another shape.
    if (/JSON|transform response/.test(thrown.message)) {
      const message = `${url} answered, but it is not the API of the server`;
      return {
        code: 'not_the_admin_api',
        message,
        exit: exits.unreachable,
        hint: 'Give its address with --url or SVCADMIN_URL.',
      };
    }
    const message = `Cannot reach the server at ${url}: ${innermost(thrown)}`;
    return { code: 'unreachable', message, exit: exits.unreachable, hint: unreachableHint(thrown) };
  }
  const { message = String(thrown), oclif } = thrown as { message?: string; oclif?: { exit?: number } };
  if (oclif?.exit === exits.usage) {
    return { code: 'usage', message: message.replace(/\nSee more help with --help$/, ''), exit: exits.usage };
  }
  return { code: 'failure', message, exit: exits.failure };
}

/** The lines of a failure for a person, or one line of JSON for a program; both belong on stderr. */
export function renderFailure({ code, message, hint }: Failure, json: boolean): string {
  if (json) return JSON.stringify({ error: { code, message, ...(hint && { hint }) } });
  if (code === 'cancelled') return message;
  return [
    `Error: ${localTimes(message)}${isErrorCode(code) ? ` (${code})` : ''}`,
    ...(hint ? [hint] : []),
  ].join('\n');
}
