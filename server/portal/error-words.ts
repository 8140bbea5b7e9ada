import type { ErrorCode } from '../../contracts/errors.ts';
import type { ApiError } from '../platform/errors.ts';
import type { Messages } from './messages/en.ts';

/** The message for each error code. A code without a row is a refusal: its message says so, and the detail says why. */
const messages: Partial<Record<ErrorCode, keyof Messages>> = {
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
/** The codes whose message says everything, so that no detail is shown. */
const codesWithoutDetail: ReadonlySet<ErrorCode> = new Set([
  'passkey_required',
  'cross_site_request',
  'rate_limited',
  'service_unavailable',
  'server_error',
  'not_permitted',
]);

/** The text of an error in the member's language. `detail` is the description of the error, which exists in English only. */
export const describeError = (
  { code, message }: ApiError,
  m: Messages,
): { text: string; detail?: string } => ({
  text: m[messages[code] ?? 'refused'],
  ...(codesWithoutDetail.has(code) ? {} : { detail: message }),
});
