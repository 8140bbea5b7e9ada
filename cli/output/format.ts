import { formatCents } from '../flags/amounts.ts';

/** The names of fields with cents. */
const moneyFields = new Set([
  ...['amount', 'balance', 'balanceAfter', 'balanceBefore', 'spentPerDay', 'below'],
  // The prices of billable events.
  ...['token', 'storefront', 'checkbox'],
]);
/** Whether a field contains cents. */
export const isMoney = (name: string): boolean => moneyFields.has(name);
const dateTimes = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const two = (part: number): string => String(part).padStart(2, '0');

/** Writes minutes east of UTC as `+02:00`. */
function offset(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Writes a time in the reader's time zone, such as `2026-07-12 14:03:11+02:00`. `--since` accepts this form. */
export function localTime(iso: string): string {
  const date = new Date(iso);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${day} ${time}${offset(-date.getTimezoneOffset())}`;
}

/** Converts the times in a sentence of the server from UTC to local time. */
export function localTimes(sentence: string): string {
  return sentence.replace(dateTimes, localTime);
}

/** Replaces control characters, so that foreign text cannot move the cursor or ring the bell. */
export function harmless(text: string): string {
  return text.replace(
    /\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** Converts `oldestDueAt` to `oldest due at`. */
export const plain = (name: string): string => name.replace(/([A-Z])/g, ' $1').toLowerCase();

/** Formats a value for a person: times in local time, money in dollars, an absent value as `-`. */
export function formatValue(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'number') return isMoney(name) ? formatCents(value) : String(value);
  if (typeof value === 'string') return localTimes(harmless(value));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((item) => formatValue(name, item)).join(' ') || '-';
  return Object.entries(value)
    .map(([inner, item]) => `${plain(inner)} ${formatValue(inner, item)}`)
    .join(', ');
}

/** A share from 0 to 1 as `35.2 %`. */
export const percent = (share: number | null): string =>
  share === null ? '-' : `${Math.round(share * 1000) / 10} %`;

const initials = /\b(id|api|uri|url|cli|http)(s?)\b/gi;

/** Converts `createdAt` to `Created at`. */
export function label(name: string): string {
  const words = plain(name);
  const sentence = words.charAt(0).toUpperCase() + words.slice(1);
  return sentence.replace(
    initials,
    (_word, letters: string, plural: string) => letters.toUpperCase() + plural,
  );
}
