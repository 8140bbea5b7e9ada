import { formatCents } from '../flags/amounts.ts';

/** Names of fields that hold cents. */
const moneyFields = new Set([
  ...['amount', 'balance', 'balanceAfter', 'balanceBefore', 'spentPerDay', 'below'],
  // Prices, by what is billed.
  ...['token', 'storefront', 'checkbox'],
]);
/** Whether a field holds cents. */
export const isMoney = (name: string): boolean => moneyFields.has(name);
const dateTimes = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;
const two = (part: number): string => String(part).padStart(2, '0');

/** Minutes east of UTC as `+02:00`. */
function offset(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** A date and time in the reader's own zone, which it names: `2026-07-12 14:03:11+02:00`. `--since` takes it again. */
export function localTime(iso: string): string {
  const date = new Date(iso);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${day} ${time}${offset(-date.getTimezoneOffset())}`;
}

/** A sentence of the server, whose times are in UTC, for a person. */
export function localTimes(sentence: string): string {
  return sentence.replace(dateTimes, localTime);
}

/** Text from others must not move the cursor or ring the bell. */
export function harmless(text: string): string {
  return text.replace(
    /\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** `oldestDueAt` as `oldest due at`. */
export const plain = (name: string): string => name.replace(/([A-Z])/g, ' $1').toLowerCase();

/** A value as a person reads it: times local, money in dollars, nothing as `-`. */
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

const initials = /\b(id|api|uri|url|cli|http)(s?)\b/gi;

/** `createdAt` as `Created at`. */
export function label(name: string): string {
  const words = plain(name);
  const sentence = words.charAt(0).toUpperCase() + words.slice(1);
  return sentence.replace(
    initials,
    (_word, letters: string, plural: string) => letters.toUpperCase() + plural,
  );
}
