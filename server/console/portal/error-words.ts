import type { ErrorCode } from '../../../contracts/errors.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Language } from '../../platform/http/browser/language.ts';
import { type Fault, faultsOf } from './fault-words.ts';
import { isAbout } from './form-faults.ts';
import type { Messages } from './messages/en.ts';
import type { Field } from './views/kit/page.ts';

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

const mostFaults = 10;

/**
 * The text of an error in the member's language, with what `faultsOf` tells. English faults are told with the label of their field.
 * @param fields those of the refused form
 */
export function describeError(
  error: ApiError,
  m: Messages,
  language: Language,
  fields: readonly Field[] = [],
): ShownError {
  const { code } = error;
  const complete = completeMessages[code];
  if (complete) return { text: m[complete] };
  const translated = faultsOf(error, language);
  const isEnglish = translated.some((fault) => fault.isEnglish);
  const faults = isEnglish ? faultsOf(error, 'en') : translated;
  const labelOf = (fault: Fault) =>
    language === 'en' ? fields.find((field) => isAbout(field, fault))?.label : undefined;
  const labelled = faults.map((fault) => ({ label: labelOf(fault), text: fault.text }));
  const texts = new Set(labelled.map(({ label, text }) => (label ? `${label}: ${text}` : text)));
  const detail = { text: [...texts].slice(0, mostFaults).join(isEnglish ? '; ' : ' '), isEnglish };
  return { text: m[messages[code] ?? 'refused'], detail };
}

/** The error for a path without a page. It shows the path. A long one is shortened. */
export const noPageError = (path: string) =>
  new ApiError('route_not_found', { description: path.slice(0, 128) });
