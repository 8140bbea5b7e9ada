import { type ErrorCode, errorTable, isErrorCode } from '../../contracts/errors.ts';
import { type Reason, reasons } from '../../contracts/reasons.ts';
import { errorGuide, redirectGuide } from './guide.ts';
import { errorMessages } from './messages.ts';

/** An error that support can look up: of a response of the API, of a redirect, or the reason of a failed session. */
export interface ListedError {
  code: string;
  kind: 'answer' | 'redirect' | 'reason';
  /** The HTTP status. Null unless `kind` is `answer`. */
  httpStatus: number | null;
  retryable: boolean | null;
  meaning: string;
  advice: string;
}

const answer = (code: ErrorCode): ListedError => {
  const { status, retryable, text } = errorTable[code];
  return { code, kind: 'answer', httpStatus: status, retryable, meaning: text, advice: errorGuide[code] };
};

const redirect = ([code, advice]: [string, string]): ListedError => ({
  code,
  kind: 'redirect',
  httpStatus: null,
  retryable: null,
  advice,
  meaning: 'An error of the redirect back to the partner',
});

const reason = (code: Reason): ListedError => ({
  code,
  kind: 'reason',
  httpStatus: null,
  retryable: reasons[code].retryable,
  meaning: reasons[code].text,
  advice: `The redirect says ${reasons[code].error}; \`sessions list --status failed\` finds others.`,
});

const inTable = new Set<string>([...Object.keys(errorTable), ...Object.keys(redirectGuide)]);

/** All errors of the contract: codes of responses, of redirects, and reasons of failed sessions. */
export const listedErrors: readonly ListedError[] = [
  ...Object.keys(errorTable).filter(isErrorCode).map(answer),
  ...Object.entries(redirectGuide).map(redirect),
  ...(Object.keys(reasons) as Reason[]).filter((code) => !inTable.has(code)).map(reason),
];

/** Returns the words of a text, without short words, ids and times, which do not identify an error. */
const words = (text: string): string[] =>
  text
    .toLowerCase()
    .replace(/\b(txn|evt|ses|cli|key)_\w+|\d[\d:.tz-]*/g, ' ')
    .split(/[^a-z_]+/)
    .filter((word) => word.length > 2);

function textsOf({ code, meaning }: ListedError): string[] {
  if (!isErrorCode(code)) return [code, meaning];
  const { general, text } = errorTable[code];
  return [code, text, ...(general ? [general] : []), ...(errorMessages[code] ?? [])];
}

/** Returns how similar a message and a text are, from 0 to 1, by the share of words that they have in common. */
function similarity(message: readonly string[], text: readonly string[]): number {
  const common = message.filter((word) => text.includes(word)).length;
  return common === 0 ? 0 : (2 * common) / (message.length + text.length);
}

/** The least similarity of an error that is found. */
const leastSimilarity = 0.75;

/** Finds the errors whose texts contain a message or most of its words, the likeliest first. */
export function searchErrors(message: string): ListedError[] {
  const wanted = words(message);
  if (wanted.length === 0) return [];
  const scored = listedErrors.map((error) => {
    const likenesses = textsOf(error).map((text) => {
      const found = words(text);
      const part = wanted.filter((word) => found.includes(word)).length / wanted.length;
      return part >= leastSimilarity || found.every((word) => wanted.includes(word))
        ? similarity(wanted, found)
        : 0;
    });
    return { error, score: Math.max(...likenesses) };
  });
  const best = Math.max(...scored.map(({ score }) => score));
  return scored
    .filter(({ score }) => score > 0 && score >= best * 0.8)
    .toSorted((one, other) => other.score - one.score)
    .map(({ error }) => error);
}
