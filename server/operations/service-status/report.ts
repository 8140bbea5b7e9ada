import type { DayOfStatus, Incident, SpanOfStatus } from '../../../contracts/service-status.ts';
import { hour, minute, windowStart } from '../../platform/http/limits/windows.ts';
import { type Counts, daysKept, type ServiceHour } from './service-hour-store.ts';

const day = 24 * hour;
/** The periods until now that are reported, in hours. */
const spans = [24, 7 * 24, daysKept * 24];
/**
 * An hour has many errors if it has at least this share and this number. The number is there, because a single error among few
 * requests would reach the share.
 */
const manyErrors = { leastShare: 0.01, leastCount: 10 };

export interface Report {
  /** Undefined if there are no records. */
  recordedSince: Date | undefined;
  spans: SpanOfStatus[];
  incidents: Incident[];
  days: DayOfStatus[];
  /** Whether the current hour or the hour before has many errors. The current one alone may be too short to tell. */
  hasErrors: boolean;
}

/** A period, in whole minutes since the epoch. `end` is not included. */
interface Minutes {
  begin: number;
  end: number;
}

/** Returns the beginning of an hour, in minutes since the epoch. */
const beginOf = ({ _id }: ServiceHour): number => Date.parse(_id) / minute;
/** Whether a process could serve in a minute of an hour, 0 to 59. */
const isAvailableIn = ({ early, late }: ServiceHour, minuteOfHour: number): boolean =>
  (minuteOfHour < 30 ? (early >>> minuteOfHour) & 1 : (late >>> (minuteOfHour - 30)) & 1) === 1;

/** Adds a period to a list in the order of time. A period that continues the last one makes it longer. */
function append(periods: Minutes[], period: Minutes): void {
  const last = periods.at(-1);
  if (last?.end === period.begin) last.end = period.end;
  else periods.push(period);
}

/** Returns the periods in which no process could serve requests. Minutes without a record count as such. */
function outagesOf(recordByHour: ReadonlyMap<number, ServiceHour>, { begin, end }: Minutes): Minutes[] {
  const outages: Minutes[] = [];
  for (let at = begin; at < end; at += 1) {
    const record = recordByHour.get(windowStart(at, 60));
    if (record && isAvailableIn(record, at % 60)) continue;
    append(outages, { begin: at, end: at + 1 });
  }
  return outages;
}

const hasManyErrors = ({ requests, errors }: ServiceHour): boolean =>
  errors >= manyErrors.leastCount && errors / requests >= manyErrors.leastShare;

/** Returns the periods with many errors. Consecutive hours are one period. */
function errorSpansOf(hours: readonly ServiceHour[]): Minutes[] {
  const found: Minutes[] = [];
  for (const begin of hours.filter(hasManyErrors).map(beginOf)) append(found, { begin, end: begin + 60 });
  return found;
}

const timeOf = (minutes: number): string => new Date(minutes * minute).toISOString();

/** Returns an incident. @param knownUntil the end of the recorded time, in minutes. An incident that reaches it is not over */
const incidentOf = (kind: Incident['kind'], { begin, end }: Minutes, knownUntil: number): Incident => ({
  kind,
  from: timeOf(begin),
  until: end >= knownUntil ? null : timeOf(end),
  minutes: Math.min(end, knownUntil) - begin,
});

const newestFirst = (a: Incident, b: Incident): number => (a.from < b.from ? 1 : -1);

const overlapOf = (a: Minutes, b: Minutes): number =>
  Math.max(0, Math.min(a.end, b.end) - Math.max(a.begin, b.begin));

/**
 * Makes the report from the records of the service.
 * @param records the records by hour, the oldest first
 * @param now milliseconds since the epoch. The availability of the current minute and of the one before is left out, because
 *   some processes have not written it yet
 */
export function reportOf(records: readonly ServiceHour[], now: number): Report {
  const [first] = records;
  if (!first) return { recordedSince: undefined, spans: [], incidents: [], days: [], hasErrors: false };
  const recordByHour = new Map(records.map((record) => [beginOf(record), record]));
  // The service began to record within the first hour, so the minutes before the first available one are no outage.
  const minutesOfHour = Array.from({ length: 60 }, (_, minuteOfHour) => minuteOfHour);
  const firstMinute = minutesOfHour.find((minuteOfHour) => isAvailableIn(first, minuteOfHour)) ?? 0;
  const currentMinute = Math.floor(now / minute);
  const recorded: Minutes = { begin: beginOf(first) + firstMinute, end: currentMinute - 1 };
  const outages = outagesOf(recordByHour, recorded);

  /** Returns the availability and the counts of a period. Its first hour counts as a whole, because counts are by the hour. */
  function recordOf(period: Minutes) {
    const recordedMinutes = overlapOf(period, recorded);
    const unavailableMinutes = outages.reduce((sum, outage) => sum + overlapOf(outage, period), 0);
    const firstHour = windowStart(period.begin, 60);
    const recordsOfPeriod = records.filter((record) => {
      const begin = beginOf(record);
      return begin >= firstHour && begin < period.end;
    });
    const total = (name: keyof Counts) => recordsOfPeriod.reduce((sum, record) => sum + record[name], 0);
    return {
      available: recordedMinutes === 0 ? null : 1 - unavailableMinutes / recordedMinutes,
      unavailableMinutes,
      requests: total('requests'),
      errors: total('errors'),
      webhooks: total('webhooks'),
      webhooksTaken: total('webhooksTaken'),
    };
  }

  /** Returns the record of each day since the first recorded one, at most 90 days. */
  function daysUntilNow(): DayOfStatus[] {
    const days: DayOfStatus[] = [];
    const firstRecordedDay = windowStart(recorded.begin * minute, day);
    const firstKeptDay = windowStart(now, day) - (daysKept - 1) * day;
    for (let at = Math.max(firstRecordedDay, firstKeptDay); at <= now; at += day) {
      const period = { begin: at / minute, end: (at + day) / minute };
      days.push({ day: new Date(at).toISOString().slice(0, 10), ...recordOf(period) });
    }
    return days;
  }

  // Errors are counted up to now, while the availability of the last minutes is not known yet.
  const nextMinute = Math.ceil(now / minute);
  const incidents = [
    ...outages.map((outage) => incidentOf('unavailable', outage, recorded.end)),
    ...errorSpansOf(records).map((span) => incidentOf('errors', span, nextMinute)),
  ];
  const previousHour = (windowStart(now, hour) - hour) / minute;
  return {
    recordedSince: new Date(recorded.begin * minute),
    spans: spans.map((length) => ({
      hours: length,
      ...recordOf({ begin: nextMinute - length * 60, end: nextMinute }),
    })),
    incidents: incidents.toSorted(newestFirst),
    days: daysUntilNow(),
    hasErrors: records.some((record) => beginOf(record) >= previousHour && hasManyErrors(record)),
  };
}
