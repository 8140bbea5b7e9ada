import type { ReadSchedule } from '../../../contracts/admin/schedule.ts';
import { eventNames } from '../../../contracts/event-names.ts';
import { Mode } from '../../../contracts/identifiers.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Api } from '../portal/views/kit/page.ts';
import { text, time } from '../portal/views/kit/text.ts';
import { link, type RecordPage, texts } from './ops-cells.ts';

type ScheduleFilter = Pick<ReadSchedule, 'partnerId' | 'keyId' | 'mode' | 'event'>;

const mostRows = 100;

/** The filter of a page `/ops/schedule/:id`: all, or a partner, an API key, a mode or an event. @throws ApiError `not_found` */
function filterOf(id: string): { filter: ScheduleFilter; flags: string } {
  if (id === 'all') return { filter: {}, flags: '' };
  if (id.startsWith('ptr_')) return { filter: { partnerId: id }, flags: ` --partner ${id}` };
  if (id.startsWith('key_')) return { filter: { keyId: id }, flags: ` --key ${id}` };
  const { data: mode } = Mode.safeParse(id);
  if (mode) return { filter: { mode }, flags: ` --mode ${mode}` };
  const event = eventNames.find((name) => name === id);
  if (event) return { filter: { event }, flags: ` --event ${event}` };
  throw new ApiError('not_found', { description: `No schedule of ${id}` });
}

/** Reads which webhook attempts are due, by minute, partner, mode, event and cause. */
export async function schedulePage(api: Api, id: string): Promise<RecordPage> {
  const { filter, flags } = filterOf(id);
  // A change needs a filter.
  const toChange = flags === '' ? ' --partner PARTNER' : flags;
  const { rows, total, exact, late, paused } = await api.deliveries.schedule({
    ...filter,
    by: ['minute', 'partner', 'mode', 'event', 'why'],
    limit: mostRows,
  });
  return {
    title: id === 'all' ? 'Scheduled webhook attempts' : `Scheduled webhook attempts of ${id}`,
    facts: [
      ['Waiting', text(`${exact ? '' : 'at least '}${total}`)],
      ['Due already', text(late)],
      ['Paused', text(paused)],
    ],
    tables: [
      {
        title: `What is due first, at most ${mostRows} rows`,
        headings: ['Due', 'Partner', 'Mode', 'Event', 'Why', 'Attempts'],
        rows: rows.map(({ dueAt, partnerId, partnerName, mode, event, why, count }) => [
          time(dueAt),
          link('schedule', partnerId ?? '', partnerName ?? partnerId ?? ''),
          link('schedule', mode ?? ''),
          link('schedule', event ?? ''),
          ...texts(why, count),
        ]),
      },
    ],
    actions: [
      ['The same in a terminal', `svcadmin deliveries schedule${flags}`],
      ['Move them', `svcadmin deliveries reschedule${toChange} --in 1h --dry-run`],
      ['Cancel them', `svcadmin deliveries cancel${toChange} --dry-run`],
      ['Hold an API key', 'svcadmin webhooks pause KEY --until 2h --dry-run'],
    ],
  };
}
