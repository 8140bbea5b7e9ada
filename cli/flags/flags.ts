import * as Flags from '@oclif/core/flags';
import { parseDollars } from '../../contracts/amounts.ts';
import { idTokenAlgs } from '../../contracts/openid.ts';
import { usageError } from '../errors/failure.ts';
import { localTime } from '../output/format.ts';
import { isoOf, parseMoment, parseSeconds, parseTime } from './durations.ts';

const eitherMode = Flags.option({ options: ['test', 'live'] as const });

/** The mode of a command. The default is test. */
export const mode = eitherMode({ description: 'test or live', default: 'test' });

/** The mode of a list. Without it, a list shows both modes. */
export const modeFilter = eitherMode({ description: 'only test or only live' });

/** The mode of a command that moves money. It is required, so that an operator always says which wallet is meant. */
export const modeRequired = eitherMode({ description: 'test or live', required: true });

/** Flags of every list. */
export const listFlags = {
  count: Flags.boolean({ description: 'only the number of records' }),
  where: Flags.string({
    description:
      'only records with this value in a column; also != ~ (contains) < >; = alone for none; dates are local; may be repeated',
    helpValue: 'status=failed',
    multiple: true,
    multipleNonGreedy: true,
  }),
  by: Flags.string({
    description: 'how many records for each value of these columns; a time counts by its day (UTC)',
    helpValue: 'mode,status',
    exclusive: ['count', 'columns'],
  }),
  columns: Flags.string({
    description: 'only these columns, by their names in --json',
    helpValue: 'id,status',
    exclusive: ['json'],
  }),
  csv: Flags.boolean({
    description: 'as CSV, amounts as decimal numbers, times in UTC',
    exclusive: ['json'],
  }),
};

/** The most records that the server returns in one response. */
export const mostPerPage = 500;

/** Flags of lists that the server returns in pages. */
export const pageFlags = {
  limit: Flags.integer({
    description: 'maximum number of records, or of groups with --by',
    default: 50,
    min: 1,
    max: mostPerPage,
  }),
  after: Flags.string({ description: 'only records after the one with this id', aliases: ['cursor'] }),
  all: Flags.boolean({ description: 'all records, however many', exclusive: ['limit'] }),
  ...listFlags,
};

/** Returns the key by which column names are compared: `Created at`, `created_at` and `createdAt` have the same key. */
const columnKey = (name: string): string => name.replace(/[\s_-]/g, '').toLowerCase();

/**
 * Returns the names of the columns that a person asks for, such as `id,status`.
 * @param known the names of the columns of the list
 * @param acceptUnknown accepts other names too. A list without rows needs it, because only a row shows all columns of a list
 * @throws CommandError if the list does not have a column
 */
export function requestedColumns(
  text: string,
  known: readonly string[],
  { acceptUnknown = false } = {},
): string[] {
  const byKey = new Map(known.map((name) => [columnKey(name), name]));
  const askedNames = text.split(',').map((name) => name.trim());
  return askedNames.map((name) => {
    const found = byKey.get(columnKey(name));
    if (found !== undefined) return found;
    if (acceptUnknown) return name;
    throw usageError(`${name} is not a column of this list`, `Its columns: ${known.join(' ')}`);
  });
}

/** Flags of every command that shows personal data. */
export const readReason = Flags.string({
  description: 'reason for the audit log; needed for live users',
  helpValue: 'TEXT',
});

/** Flag of acts for which everybody must say why. */
export const requiredReason = Flags.string({
  description: 'reason for the audit log',
  helpValue: 'TEXT',
  required: true,
});

/** Flag of acts for which some roles must say why. */
export const actReason = Flags.string({
  description: 'reason for the audit log; the role ops must give one',
  helpValue: 'TEXT',
});

export const outFile = Flags.string({
  description: 'write the secret to this new file (0600) instead of stdout',
  helpValue: 'FILE',
  helpGroup: 'GLOBAL',
});

/** A flag for an amount in decimal dollars. Its value is in cents. */
export const amount = Flags.custom<number, { canBeNegative?: boolean }>({
  helpValue: '50.00',
  async parse(text, _context, { canBeNegative = false }) {
    const cents = parseDollars(text, { canBeNegative });
    if (cents === undefined) throw usageError(`${text} is not an amount in dollars such as 50.00`);
    return cents;
  },
});

/** A flag for a duration such as `24h`. Its value is in seconds. */
export const duration = Flags.custom<number>({
  helpValue: '24h',
  async parse(text) {
    const seconds = parseSeconds(text);
    if (seconds === undefined) throw usageError(`${text} is not a duration such as 90s, 30m, 24h or 7d`);
    return seconds;
  },
});

/** A flag for a duration such as `24h`, or `default`. Its value is in seconds; null for `default`. */
export const durationOrDefault = Flags.custom<number | null>({
  helpValue: '90d',
  async parse(text) {
    const seconds = text === 'default' ? null : parseSeconds(text);
    if (seconds === undefined)
      throw usageError(`${text} is neither a duration such as 30m, 24h or 90d nor "default"`);
    return seconds;
  },
});

/** A flag that says whether users of a client may use passkeys. */
export const passkeys = Flags.option({ options: ['on', 'off'] as const })({
  description: 'whether users may save a passkey and return by one, where the server has them on',
});

/** Flags of the settings of a client for OpenID Connect. */
export const openidFlags = {
  openid: Flags.option({ options: ['on', 'off'] as const })({
    description: 'whether the scope openid asks for an ID token (OpenID Connect)',
  }),
  'default-claims': Flags.string({
    description: 'claims that a start with openid asks for if its scope has none; "default" for none',
    helpValue: '"age_18_plus"',
    multiple: true,
  }),
  'id-token-alg': Flags.option({ options: idTokenAlgs })({
    description: 'algorithm of ID tokens; without it, RS256',
  }),
};

/** Returns whether a flag is `on`; undefined if it is not given. */
export const isOn = (value: 'on' | 'off' | undefined): boolean | undefined =>
  value === undefined ? undefined : value === 'on';

/** @throws CommandError if a period ends before it begins. Its ends are RFC 3339 in UTC, so that they compare as texts */
export function requireFromBeforeTo(from: string | undefined, to: string | undefined): void {
  if (from !== undefined && to !== undefined && from >= to)
    throw usageError(`The period ends (${to}) before it begins (${from})`);
}

/** The error for a text that is no moment. */
export const notAMoment = (text: string) =>
  usageError(`${text} is neither a time such as 2026-07-01, yesterday or 14:00 nor a duration such as 2h`);

/** A flag for a moment. Its value is RFC 3339 in UTC. */
export const moment = Flags.custom<string>({
  helpValue: '2h|2026-07-01',
  async parse(text) {
    const iso = parseMoment(text, Date.now());
    if (iso === undefined) throw notAMoment(text);
    return iso;
  },
});

/** Flags for a span of time. `requireFromBeforeTo` checks its order. */
export const spanFlags = {
  since: moment({ description: 'only since this time' }),
  until: moment({ description: 'only before this time' }),
};

const dayMs = 86_400_000;

/** Flags for a span that is measured. Without --since, it is the day before its end. */
export const daySpanFlags = {
  since: moment({
    description: 'beginning of the span',
    default: async ({ flags: { until } }) =>
      new Date((typeof until === 'string' ? Date.parse(until) : Date.now()) - dayMs).toISOString(),
    defaultHelp: async () => '24h before --until',
  }),
  until: moment({ description: 'end of the span; without it, now' }),
};

const oneTime = { exactlyOne: ['at', 'in'] };

/** Flags for the time of an attempt. */
export const newTime = {
  at: Flags.custom<string>({
    helpValue: '2026-07-01T09:00',
    async parse(text) {
      const iso = parseTime(text, Date.now());
      if (iso === undefined) throw usageError(`${text} is not a time such as 2026-07-01T09:00`);
      if (Date.parse(iso) < Date.now())
        throw usageError(`${text} is over`, 'To have the attempt made at once: --in 0s');
      return iso;
    },
  })({ description: 'time; local unless it names a zone', ...oneTime }),
  in: duration({ description: 'delay from now; 0s for now', helpValue: '30m', ...oneTime }),
};

/** Converts the flags of `newTime` to the fields `at` or `inSeconds` of the contract. */
export const dueAt = ({ at, in: inSeconds }: { at?: string | undefined; in?: number | undefined }) => ({
  at,
  inSeconds,
});

/** Splits the values of a flag, such as `"a b"` or `a,b`, into words. */
export function splitWords(values: readonly string[]): string[] {
  return values.flatMap((value) => value.split(/[\s,]+/)).filter(Boolean);
}

/** Removes the fields that are undefined, such as those of flags that are not given, so that the fields left are the ones to change. */
export function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Returns the local time after a number of seconds from now, for a message. @throws CommandError as `isoOf` */
export const localTimeIn = (seconds: number): string =>
  localTime(isoOf(Date.now() + seconds * 1000, `${seconds} s from now`));
