import { retentionMs } from '../../../contracts/retention.ts';
import { createLatencies } from '../../deliveries/latency.ts';
import { daySpanFlags, listFlags, modeFilter, mostPerPage, requireFromBeforeTo } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { columnsSameFor, ListCommand } from '../../list/list-command.ts';
import { readPages } from '../../list/pages.ts';
import { describeDeleted } from '../../list/totals.ts';

/** The most deliveries that are read. Of more, the newest are measured. */
const mostRead = 50_000;

export default class DeliveriesLatency extends ListCommand<typeof DeliveriesLatency> {
  static override summary =
    'Show how fast endpoints answer, compared with the span before, the slowest first.';
  static override description =
    'Measures the attempts of deliveries that were made in the span: p50 and p95 in milliseconds. `change` is the p95 divided by that of a span of the same length before. Attempts without an answer count with the time until they ended.';
  static override examples = [
    '<%= config.bin %> deliveries latency',
    "<%= config.bin %> deliveries latency --since 1h --where 'change>2'",
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'only of this partner' }),
    key: idFlag('apiKey')({ description: 'only of this API key' }),
    mode: modeFilter,
    ...daySpanFlags,
    ...listFlags,
  };

  async run() {
    const { partner, key, mode, since, until } = this.flags;
    requireFromBeforeTo(since, until);
    const end = until === undefined ? Date.now() : Date.parse(until);
    const before = new Date(2 * Date.parse(since) - end).toISOString();
    const filter = { partnerId: partner, keyId: key, mode, since: before, until };
    const latencies = createLatencies({ since, until });
    let read = 0;
    const pages = readPages((page) => this.api.deliveries.list.query({ ...filter, ...page }), {
      all: true,
      limit: mostPerPage,
    });
    for await (const { rows } of pages) {
      for (const row of rows) latencies.add(row);
      read += rows.length;
      if (read >= mostRead) break;
    }
    for (const sentence of describeDeleted(before, retentionMs.event)) this.writeNotice(sentence);
    const notes = read >= mostRead ? [`Of the newest ${mostRead} deliveries: narrow it by --partner.`] : [];
    return this.showList({
      page: async () => latencies.rows(),
      fields: async () => ['partnerId'],
      columns: ['keyId', 'partnerName', 'mode', 'attempts', 'p50', 'p95', 'change', 'before'],
      dropIfNarrow: [...columnsSameFor(partner), 'before'],
      notes: () => notes,
    });
  }
}
