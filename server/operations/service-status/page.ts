import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type {
  DayOfStatus,
  Incident,
  ServiceStatus,
  SpanOfStatus,
} from '../../../contracts/service-status.ts';
import { daysKept } from './service-hour-store.ts';

/** Templates escape all values by default. */
const eta = new Eta({ views: fileURLToPath(new URL('.', import.meta.url)), cache: true });

const barWidth = 10;
/** The comment in the shell that the status replaces. */
const placeholder = '<!-- status -->';

const states = {
  operational: 'The service works',
  errors: 'Some requests end with an error of the service',
  unavailable: 'The service is not available',
};
const incidentTexts: Readonly<Record<Incident['kind'], string>> = {
  unavailable: 'Not available',
  errors: 'One request in a hundred, or more, ended with an error of the service',
};

/** Writes a share as percent with two decimals. It rounds down, so that only a full share is shown as 100 %. */
function percentText(share: number | null): string {
  return share === null ? '–' : `${(Math.floor(share * 10_000) / 100).toFixed(share === 1 ? 0 : 2)} %`;
}

const shareOf = (part: number, all: number): number | null => (all === 0 ? null : part / all);
/** Writes a time as `2026-03-04 09:30`. */
const timeText = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 16)}`;
const count = new Intl.NumberFormat('en-US');

/** Names a period, such as `24 hours` or `7 days`. */
function nameOf({ hours }: SpanOfStatus): string {
  return hours === 24 ? '24 hours' : `${hours / 24} days`;
}

/** Returns the cells of a row: availability, requests, share without errors, webhooks, share that receivers have acknowledged. */
const cellsOf = (record: SpanOfStatus | DayOfStatus) => [
  percentText(record.available),
  count.format(record.requests),
  percentText(shareOf(record.requests - record.errors, record.requests)),
  count.format(record.webhooks),
  percentText(shareOf(record.webhooksTaken, record.webhooks)),
];

function colorClassOf({ available }: DayOfStatus): 'unknown' | 'good' | 'fair' | 'poor' {
  if (available === null) return 'unknown';
  if (available === 1) return 'good';
  return available >= 0.99 ? 'fair' : 'poor';
}

function durationText(minutes: number): string {
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`;
}

/** Returns a bar for each recorded day. The last day is at the right. */
const barsOf = (days: readonly DayOfStatus[]) =>
  days.map((day, index) => ({
    x: (daysKept - days.length + index) * barWidth,
    look: colorClassOf(day),
    text: `${day.day}: ${percentText(day.available)}`,
  }));

/** Returns the shell with the status in it. @param shell an HTML page that contains the placeholder */
export function renderStatus(shell: string, status: ServiceStatus): string {
  const { days } = status;
  const html = eta.render('./status', {
    state: status.status,
    title: states[status.status],
    at: timeText(status.at),
    since: status.recordedSince && timeText(status.recordedSince),
    asOf: status.recordsAsOf && timeText(status.recordsAsOf),
    rows: status.spans.map((span) => [nameOf(span), ...cellsOf(span)]),
    bars: barsOf(days),
    width: daysKept * barWidth,
    days: days.toReversed().map((record) => [record.day, ...cellsOf(record)]),
    incidents: status.incidents.map(({ kind, from, until, minutes }) => ({
      text: incidentTexts[kind],
      when: until === null ? `since ${timeText(from)}` : `${timeText(from)} to ${timeText(until)}`,
      length: durationText(minutes),
    })),
  });
  // The replacement is a function, so that a `$` in the text has no special meaning.
  return shell.replace(placeholder, () => html);
}
