import type { BillableKind } from '../../contracts/charge.ts';
import { formatCents } from '../flags/amounts.ts';

const amounts = [
  'amount',
  'amountBefore',
  'sum',
  'balance',
  'balanceAfter',
  'balanceBefore',
  'spentPerDay',
  'below',
];
/** Prices have the names of the billable events. */
const prices: Readonly<Record<BillableKind, true>> = { token: true, storefront: true, checkbox: true };
/** The names of fields that contain cents. */
const moneyFields: ReadonlySet<string> = new Set([...amounts, ...Object.keys(prices)]);
/** Whether a field contains cents. */
export const isMoney = (name: string): boolean => moneyFields.has(name);
const dateTimes = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const twoDigits = (part: number): string => String(part).padStart(2, '0');

/** Writes minutes east of UTC as `+02:00`. */
function formatOffset(minutes: number): string {
  const distance = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(distance / 60))}:${twoDigits(distance % 60)}`;
}

/**
 * Writes a time in the reader's time zone, such as `2026-07-12 14:03:11+02:00`. `--since` accepts this form. A text that only looks
 * like a time stays as it is: a person may have typed it.
 */
export function localTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
  return `${day} ${time}${formatOffset(-date.getTimezoneOffset())}`;
}

/** Converts the times in a sentence of the server from UTC to local time. */
export function localTimes(sentence: string): string {
  return sentence.replace(dateTimes, localTime);
}

/** Control characters, invisible ones, and those that change the direction of the text after them. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const hexOf = (unit: number, digits: number): string => unit.toString(16).padStart(digits, '0');

/** A character as `\x1b` or `\u202e`. */
function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 256 ? `\\x${hexOf(code, 2)}` : `\\u${hexOf(code, 4)}`;
}

/** Replaces control characters, so that text from outside cannot control the terminal, also not by a new line. */
export const escapeControls = (text: string): string => text.replace(controls, escaped);

/** As `escapeControls`, but keeps line ends and tabs. Everything that is written for a person passes through it. */
export const printable = (text: string): string =>
  text.replace(controls, (character) => ('\n\t'.includes(character) ? character : escaped(character)));

/** Writes a value as JSON whose characters cannot control a terminal. `JSON.stringify` escapes only those below U+0020. */
export const printableJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).replace(controls, (character) =>
    character === '\n'
      ? character
      : Array.from({ length: character.length }, (_, n) => `\\u${hexOf(character.charCodeAt(n), 4)}`).join(
          '',
        ),
  );

/** Converts `oldestDueAt` to `oldest due at`. */
export const splitName = (name: string): string => name.replace(/([A-Z])/g, ' $1').toLowerCase();

/** The names of fields that hold text as it was sent or typed: the body of an event, and what others search for or compare. */
const verbatimFields: ReadonlySet<string> = new Set([
  ...['body', 'name', 'reference', 'clientReferenceId', 'shop', 'shops'],
  ...['redirectUri', 'redirectUris', 'url', 'webhookUrl'],
]);

/** Formats a value for a person: times in local time, money in dollars, an absent value as `-`. */
export function formatValue(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'number') return isMoney(name) ? formatCents(value) : String(value);
  if (typeof value === 'string') {
    const text = escapeControls(value);
    return verbatimFields.has(name) ? text : localTimes(text);
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) {
    // The fields of a record are separated by commas, so that records need another sign between them.
    const separator = value.some((item) => typeof item === 'object') ? '; ' : ' ';
    return value.map((item) => formatValue(name, item)).join(separator) || '-';
  }
  return Object.entries(value)
    .map(([inner, item]) => `${splitName(inner)} ${formatValue(inner, item)}`)
    .join(', ');
}

/** Writes a share from 0 to 1 as `35.2 %`; an absent share as `-`. */
export const formatShare = (share: number | null): string =>
  share === null ? '-' : `${Math.round(share * 1000) / 10} %`;

/** Abbreviations, which are written in capitals. The plural `s` stays small, as in `IDs`. */
const abbreviations = /\b(?<letters>id|api|uri|url|cli|http|vat)(?<plural>s?)\b/gi;

/** Converts `createdAt` to `Created at`. */
export function label(name: string): string {
  const words = splitName(name);
  const sentence = words.charAt(0).toUpperCase() + words.slice(1);
  return sentence.replace(
    abbreviations,
    (_word, letters: string, plural: string) => letters.toUpperCase() + plural,
  );
}
