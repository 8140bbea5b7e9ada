import * as Flags from '@oclif/core/flags';
import type { ScheduleColumn, ScheduleRow } from '../../../contracts/admin/schedule.ts';
import { usageError } from '../../errors/failure.ts';
import { isoOf } from '../../flags/durations.ts';
import { eventFilters } from '../../flags/filters.ts';
import { mostPerPage, requireFromBeforeTo, splitWords } from '../../flags/flags.ts';
import { parsePastOrFuture } from '../../flags/moments.ts';
import { requireRecords } from '../../list/known-records.ts';
import { describeOnly } from '../../list/totals.ts';
import { renderCsvRows } from '../../output/csv.ts';
import { AdminCommand } from '../../program/base-command.ts';

/** The fields that each column of `--by` shows. */
const fieldsOf: Readonly<Record<ScheduleColumn, readonly (keyof ScheduleRow)[]>> = {
  minute: ['dueAt'],
  hour: ['dueAt'],
  partner: ['partnerName', 'partnerId'],
  key: ['keyId'],
  mode: ['mode'],
  event: ['event'],
  why: ['why'],
  attempt: ['attempt'],
};

/** A flag for a time in the past (`2h`) or in the future (`+2h`). Its value is RFC 3339 in UTC. */
const time = Flags.custom<string>({
  helpValue: '+2h|2026-07-01T09:00',
  parse: async (text) => isoOf(parsePastOrFuture(text), text),
});

export default class DeliveriesSchedule extends AdminCommand<typeof DeliveriesSchedule> {
  static override summary = 'Count the webhook attempts that are due, by time, partner, event and cause.';
  static override description =
    'Attempts that are due already have a time in the past. To change what is due: deliveries hold, reschedule and cancel, and webhooks pause have --dry-run.';
  static override examples = [
    '<%= config.bin %> deliveries schedule',
    '<%= config.bin %> deliveries schedule --by hour,event,why --mode live --until +1d',
    '<%= config.bin %> deliveries schedule --partner ptr_… --by minute,key --csv',
  ];
  static override flags = {
    by: Flags.string({
      description: `columns to count by: ${Object.keys(fieldsOf).join(' ')}`,
      default: 'minute,partner',
    }),
    partner: eventFilters.partner,
    key: eventFilters.key,
    mode: eventFilters.mode,
    event: eventFilters.event,
    since: time({ description: 'only what is due since this time' }),
    until: time({ description: 'only what is due before this time' }),
    limit: Flags.integer({ description: 'maximum number of rows', default: 50, min: 1, max: mostPerPage }),
    csv: Flags.boolean({ description: 'as CSV, times in UTC', exclusive: ['json'] }),
  };

  async run() {
    const { partner, key, mode, event, since, until, limit, csv } = this.flags;
    requireFromBeforeTo(since, until);
    const by = columnsOf(this.flags.by);
    const filter = { partnerId: partner, keyId: key, mode, event, since, until };
    const schedule = await this.api.deliveries.schedule.query({ ...filter, by, limit });
    const { rows, total, exact, late, paused = 0 } = schedule;
    if (total === 0) await requireRecords(() => this.api, { partner, key });
    const shown: (keyof ScheduleRow)[] = [...by.flatMap((column) => fieldsOf[column]), 'count'];
    if (csv) for (const line of renderCsvRows(shown, rows)) this.log(line);
    else if (rows.length > 0) this.showTable(rows, shown, { dropIfNarrow: ['partnerId'] });
    const atLeast = exact ? '' : 'at least ';
    this.writeNotice(
      `${atLeast}${total} wait, ${late} of them due already${paused > 0 ? `, ${paused} until the end of a pause` : ''}${describeOnly({ partner, key, mode, event, since, until })}.${rows.length < limit ? '' : ` The first ${limit} rows are shown; --limit shows more.`}`,
    );
    return schedule;
  }
}

/** @throws CommandError if one of the columns does not exist, or if both times are named */
function columnsOf(text: string): ScheduleColumn[] {
  const named = [...new Set(splitWords([text]))];
  const unknown = named.find((name) => !Object.hasOwn(fieldsOf, name));
  if (unknown !== undefined || named.length === 0)
    throw usageError(
      `${unknown ?? 'nothing'} is not a column`,
      `Columns: ${Object.keys(fieldsOf).join(' ')}`,
    );
  if (named.includes('minute') && named.includes('hour'))
    throw usageError('minute and hour exclude each other');
  return named as ScheduleColumn[];
}
