import type { DayOfStatus, Incident, SpanOfStatus } from '../../contracts/service-status.ts';
import { hour, minute, windowStart } from '../platform/http/windows.ts';
import { daysKept, type ServiceHour } from './service-hour-store.ts';

const day = 24 * hour;
const spans = [24, 7 * 24, daysKept * 24];
/** An hour is one of errors from this share and number of them on: a single fault of a quiet night is none. */
const manyErrors = { share: 0.01, count: 10 };

/** What the records say, as far as they go. */
export interface Report {
  recordedSince: Date | undefined;
  spans: SpanOfStatus[];
  incidents: Incident[];
  days: DayOfStatus[];
  /** Whether the present hour, or the last one, has many errors. */
  hasErrors: boolean;
}

/** Minutes, as numbers of whole ones since the epoch; `end` is not among them. */
interface Minutes {
  begin: number;
  end: number;
}

const beginOf = ({ _id }: ServiceHour): number => Date.parse(_id);
const bitOf = ({ early, late }: ServiceHour, place: number): number =>
  place < 30 ? (early >>> place) & 1 : (late >>> (place - 30)) & 1;

/** The minutes in which no process could serve, as one span for each time without a break. */
function outagesOf(hours: ReadonlyMap<number, ServiceHour>, { begin, end }: Minutes): Minutes[] {
  const outages: Minutes[] = [];
  for (let at = begin; at < end; at += 1) {
    const record = hours.get(windowStart(at, 60));
    if (record && bitOf(record, at % 60) === 1) continue;
    const last = outages.at(-1);
    if (last?.end === at) last.end = at + 1;
    else outages.push({ begin: at, end: at + 1 });
  }
  return outages;
}

const hasManyErrors = ({ requests, errors }: ServiceHour): boolean =>
  errors >= manyErrors.count && errors / requests >= manyErrors.share;

/** Hours of many errors that follow each other are one span. */
function errorSpansOf(hours: readonly ServiceHour[]): Minutes[] {
  const found: Minutes[] = [];
  for (const begin of hours.filter(hasManyErrors).map((one) => beginOf(one) / minute)) {
    const last = found.at(-1);
    if (last?.end === begin) last.end = begin + 60;
    else found.push({ begin, end: begin + 60 });
  }
  return found;
}

const timeOf = (minutes: number): string => new Date(minutes * minute).toISOString();

/** @param known the end of what is known, in minutes */
const incidentOf = (kind: Incident['kind'], { begin, end }: Minutes, known: number): Incident => ({
  kind,
  from: timeOf(begin),
  until: end >= known ? null : timeOf(end),
  minutes: Math.min(end, known) - begin,
});

const overlap = (one: Minutes, other: Minutes): number =>
  Math.max(0, Math.min(one.end, other.end) - Math.max(one.begin, other.begin));

/**
 * What the hours of the service say of it.
 * @param records the oldest first
 * @param now milliseconds since the epoch. The last minute and the present one are left out: not all processes have written them
 */
export function reportOf(records: readonly ServiceHour[], now: number): Report {
  const [first] = records;
  if (!first) return { recordedSince: undefined, spans: [], incidents: [], days: [], hasErrors: false };
  const hours = new Map(records.map((one) => [beginOf(one) / minute, one]));
  const firstPlace = Array.from({ length: 60 }, (_, place) => place).find(
    (place) => bitOf(first, place) === 1,
  );
  const known: Minutes = {
    begin: beginOf(first) / minute + (firstPlace ?? 0),
    end: Math.floor(now / minute) - 1,
  };
  const outages = outagesOf(hours, known);

  function recordOf(asked: Minutes) {
    const minutes = overlap(asked, known);
    const unavailableMinutes = outages.reduce((sum, outage) => sum + overlap(outage, asked), 0);
    const within = records.filter((one) => {
      const begin = beginOf(one) / minute;
      return begin >= windowStart(asked.begin, 60) && begin < asked.end;
    });
    const sum = (name: 'requests' | 'errors' | 'webhooks' | 'webhooksTaken') =>
      within.reduce((all, one) => all + one[name], 0);
    return {
      available: minutes === 0 ? null : 1 - unavailableMinutes / minutes,
      unavailableMinutes,
      ...{ requests: sum('requests'), errors: sum('errors') },
      ...{ webhooks: sum('webhooks'), webhooksTaken: sum('webhooksTaken') },
    };
  }

  const present = Math.ceil(now / minute);
  const days: DayOfStatus[] = [];
  const firstDay = Math.max(
    windowStart(known.begin * minute, day),
    windowStart(now, day) - (daysKept - 1) * day,
  );
  for (let at = firstDay; at <= now; at += day) {
    const asked = { begin: at / minute, end: (at + day) / minute };
    days.push({ day: new Date(at).toISOString().slice(0, 10), ...recordOf(asked) });
  }
  const incidents = [
    ...outages.map((outage) => incidentOf('unavailable', outage, known.end)),
    ...errorSpansOf(records).map((span) => incidentOf('errors', span, present)),
  ];
  const lately = windowStart(now, hour) - hour;
  return {
    recordedSince: new Date(known.begin * minute),
    spans: spans.map((length) => ({
      hours: length,
      ...recordOf({ begin: present - length * 60, end: present }),
    })),
    incidents: incidents.toSorted((one, other) => (one.from < other.from ? 1 : -1)),
    days,
    hasErrors: records.some((one) => beginOf(one) >= lately && hasManyErrors(one)),
  };
}
