import type { ErrorCode } from '../../contracts/errors.ts';
import type { ApiError } from '../platform/errors.ts';
import type { Messages } from './messages/en.ts';

/** The message for each error code, which says what to do. Other codes are refusals by a rule. */
const words: Partial<Record<ErrorCode, keyof Messages>> = {
  passkey_required: 'signInAgainNote',
  cross_site_request: 'formTooOld',
  rate_limited: 'tooManyRequests',
  service_unavailable: 'tryLater',
  server_error: 'tryLater',
  not_permitted: 'notPermitted',
  not_found: 'noRecord',
  route_not_found: 'noPage',
  bad_input: 'checkInput',
  invalid_request: 'checkInput',
};
/** The codes of errors that are clear without a detail. */
const complete: ReadonlySet<ErrorCode> = new Set([
  'passkey_required',
  'cross_site_request',
  'rate_limited',
  'service_unavailable',
  'server_error',
  'not_permitted',
]);

/** The text of an error for a page. `detail`: the exact fault, in English. */
export const describeError = (
  { code, message }: ApiError,
  m: Messages,
): { text: string; detail?: string } => ({
  text: m[words[code] ?? 'refused'],
  ...(complete.has(code) ? {} : { detail: message }),
});
