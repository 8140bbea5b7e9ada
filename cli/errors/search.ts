import { errorExplanations } from '../../contracts/error-explanations.ts';
import { type ErrorCode, errorTable, isErrorCode } from '../../contracts/errors.ts';
import { type Reason, reasons } from '../../contracts/reasons.ts';
import { type ProgramName, rewordFor } from '../program/program.ts';
import { errorGuide, redirectGuide } from './guide.ts';
import { errorMessages } from './messages.ts';

/** An error that support can look up: of a response of the API, of a redirect, or the reason of a failed session. */
export interface ListedError {
  code: string;
  kind: 'answer' | 'redirect' | 'reason';
  /** The HTTP status. Null for an error that no response has. */
  httpStatus: number | null;
  /** Whether the same request may succeed later. Null for an error of a redirect, which answers no request. */
  retryable: boolean | null;
  meaning: string;
  advice: string;
}

/** Describes a code of the API for support. Where support needs no advice of its own, the advice for developers serves. */
const describeAnswer = (code: ErrorCode): ListedError => {
  const { status, retryable, text } = errorTable[code];
  const advice = errorGuide[code] ?? errorExplanations[code].fix;
  return { code, kind: 'answer', httpStatus: status, retryable, meaning: text, advice };
};

const describeRedirect = ([code, advice]: [string, string]): ListedError => ({
  code,
  kind: 'redirect',
  httpStatus: null,
  retryable: null,
  advice,
  meaning: 'An error of the redirect back to the partner',
});

const describeReason = (code: Reason): ListedError => ({
  code,
  kind: 'reason',
  httpStatus: null,
  retryable: reasons[code].retryable,
  meaning: reasons[code].text,
  advice: `The redirect says ${reasons[code].error}; \`sessions list --status failed\` finds others.`,
});

const isListedOtherwise = (code: string): boolean => isErrorCode(code) || code in redirectGuide;

/** All errors of the contract, with advice for support. A reason that is also a code of a response or of a redirect is listed only as that. */
export const listedErrors: readonly ListedError[] = [
  ...Object.keys(errorTable).filter(isErrorCode).map(describeAnswer),
  ...Object.entries(redirectGuide).map(describeRedirect),
  ...(Object.keys(reasons) as Reason[]).filter((code) => !isListedOtherwise(code)).map(describeReason),
];

/** Returns an error with the advice for the users of a program. Members get that for developers, because they cannot do what support can. */
export const adviseUsersOf = (program: ProgramName, error: ListedError): ListedError =>
  program === 'svc' && isErrorCode(error.code)
    ? { ...error, advice: rewordFor('svc', errorExplanations[error.code].fix) }
    : error;

/** Returns the words of a text, without short words. Numbers, times and ids are left out, because they differ in each message. */
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/\b(txn|evt|ses|cli|key)_\w+|\d[\d:.tz-]*/g, ' ')
    .split(/[^a-z_]+/)
    .filter((word) => word.length > 2);

/** Returns the texts by which an error is found: its code, its meaning, and the messages of its responses. */
function textsOf({ code, meaning }: ListedError): string[] {
  if (!isErrorCode(code)) return [code, meaning];
  // `general` is the message at the storefront and checkbox endpoints, if they have another one.
  const { general, text } = errorTable[code];
  return [code, text, ...(general ? [general] : []), ...(errorMessages[code] ?? [])];
}

/** The least share of the words of a message that a text must have, unless all words of the text are in the message. */
const leastShare = 0.75;
/** The least similarity of a found error, as a share of the similarity of the best one. */
const leastShareOfBest = 0.8;

/**
 * Returns the similarity of a message and a text, from 0 to 1: the share of the words of both that are common. Returns 0 if the
 * text does not match the message, so that no unrelated error is found.
 */
function matchText(messageWords: readonly string[], text: string): number {
  const textWords = wordsOf(text);
  const common = messageWords.filter((word) => textWords.includes(word)).length;
  const hasMostWords = common / messageWords.length >= leastShare;
  // The message may be longer than the text, because a person may copy more than the error.
  const isPartOfMessage = textWords.every((word) => messageWords.includes(word));
  return hasMostWords || isPartOfMessage ? (2 * common) / (messageWords.length + textWords.length) : 0;
}

/** Finds the errors with a text that contains most words of a message, or only words of it. Sorts them by similarity. */
export function searchErrors(message: string): ListedError[] {
  const messageWords = wordsOf(message);
  if (messageWords.length === 0) return [];
  const scored = listedErrors.map((error) => ({
    error,
    score: Math.max(...textsOf(error).map((text) => matchText(messageWords, text))),
  }));
  const bestScore = Math.max(...scored.map(({ score }) => score));
  return scored
    .filter(({ score }) => score > 0 && score >= bestScore * leastShareOfBest)
    .toSorted((one, other) => other.score - one.score)
    .map(({ error }) => error);
}
