import type { ErrorCode } from '../../../contracts/errors.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import { type Fault, faultsOf } from './fault-words.ts';
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

/** An error as the template of pages shows it. */
export interface ShownError {
  text: string;
  detail?: Fault;
}

/** The text of an error in the member's language, with what `faultsOf` tells. */
export function describeError(error: ApiError, m: Messages, language: Language): ShownError {
  const { code, message } = error;
  const complete = completeMessages[code];
  if (complete) return { text: m[complete] };
  const faults = faultsOf(error, language);
  const isEnglish = faults.some((fault) => fault.isEnglish);
  const texts = [...new Set(faults.map(({ text }) => text))];
  const detail = { text: isEnglish ? message : texts.join(' '), isEnglish };
  return { text: m[messages[code] ?? 'refused'], detail };
}

/** The error for a path without a page. It shows the path. A long one is shortened. */
export const noPageError = (path: string) =>
  new ApiError('route_not_found', { description: path.slice(0, 128) });
