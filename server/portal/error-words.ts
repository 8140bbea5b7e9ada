import type { ErrorCode } from '../../contracts/errors.ts';
import type { ApiError } from '../platform/errors.ts';
import type { Messages } from './messages/en.ts';

/** What to do, in the words of the reader's language; other codes are refusals of a rule. */
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
/** Codes of which the words say everything. */
const complete: ReadonlySet<ErrorCode> = new Set([
  'passkey_required',
  'cross_site_request',
  'rate_limited',
  'service_unavailable',
  'server_error',
  'not_permitted',
]);

/** An error for a page. `detail`: what exactly is wrong, in English. */
export const wordsOf = ({ code, message }: ApiError, m: Messages): { text: string; detail?: string } => ({
  text: m[words[code] ?? 'refused'],
  ...(complete.has(code) ? {} : { detail: message }),
});
