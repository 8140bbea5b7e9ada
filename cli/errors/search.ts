import { type ErrorCode, errorTable, isErrorCode } from '../../contracts/errors.ts';
import { type Reason, reasons } from '../../contracts/reasons.ts';
import { errorGuide, redirectGuide } from './guide.ts';
import { errorMessages } from './messages.ts';

/** An error as support looks it up: an answer of the API, an error of the redirect, or the reason of a failed session. */
export interface ListedError {
  code: string;
  kind: 'answer' | 'redirect' | 'reason';
  /** Null unless `kind` is `answer`. */
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

/** Every error of the contract: codes of answers, of redirects, and reasons of failed sessions. */
export const listedErrors: readonly ListedError[] = [
  ...Object.keys(errorTable).filter(isErrorCode).map(answer),
  ...Object.entries(redirectGuide).map(redirect),
  ...(Object.keys(reasons) as Reason[]).filter((code) => !inTable.has(code)).map(reason),
];

/** Small words say nothing of an error; ids and times differ from one to the next. */
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

/** Which part of the words of the message the text has, and of the text the message: 1 where they say the same. */
function similarity(message: readonly string[], text: readonly string[]): number {
  const common = message.filter((word) => text.includes(word)).length;
  return common === 0 ? 0 : (2 * common) / (message.length + text.length);
}

/** Share of the words of a message that an error must have for it to be meant. */
const leastSimilarity = 0.75;

/** Errors whose texts hold a message, or most of its words; the likeliest first. */
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
