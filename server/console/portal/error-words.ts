import type { ErrorCode } from '../../../contracts/errors.ts';
import type { ApiError } from '../../platform/errors.ts';
import type { Messages } from './messages/en.ts';

/** The messages that say everything, so that no detail is shown. */
const completeMessages: Partial<Record<ErrorCode, keyof Messages>> = {
  passkey_required: 'signInAgainNote',
  unauthorized: 'passkeyFailed',
  cross_site_request: 'formTooOld',
  rate_limited: 'tooManyRequests',
  service_unavailable: 'tryLater',
  server_error: 'tryLater',
  not_permitted: 'notPermitted',
};
/** The messages of other errors. An error without a row gets the message `refused`. */
const messages: Partial<Record<ErrorCode, keyof Messages>> = {
  not_found: 'noRecord',
  route_not_found: 'noPage',
  bad_input: 'checkInput',
  invalid_request: 'checkInput',
};

/** The text of an error in the member's language. `detail` is the description of the error, which exists in English only. */
export function describeError({ code, message }: ApiError, m: Messages): { text: string; detail?: string } {
  const complete = completeMessages[code];
  if (complete) return { text: m[complete] };
  return { text: m[messages[code] ?? 'refused'], detail: message };
}
