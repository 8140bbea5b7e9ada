import { formatCents } from '../amounts.ts';

/** Names of fields that hold cents. */
const moneyFields = new Set([
  ...['amount', 'balance', 'balanceAfter', 'balanceBefore'],
  // Prices, by what is billed.
  ...['token', 'storefront', 'checkbox'],
]);
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const two = (part: number): string => String(part).padStart(2, '0');

/** A date and time in the reader's own zone: `2026-07-12 14:03:11`. */
export function localTime(iso: string): string {
  const date = new Date(iso);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
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
  if (typeof value === 'number') return moneyFields.has(name) ? formatCents(value) : String(value);
  if (typeof value === 'string') return dateTime.test(value) ? localTime(value) : harmless(value);
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
