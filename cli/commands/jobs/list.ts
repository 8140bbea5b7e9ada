import * as Flags from '@oclif/core/flags';
import { pageFlags } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';
import type { ReadPage } from '../../list/pages.ts';
import { readAll } from '../../list/pages.ts';

const secondMs = 1_000;

/** Returns a reader of pages of rows that are read together, once. */
function pagesOf<Row extends { id: string }>(readRows: () => Promise<readonly Row[]>): ReadPage<Row> {
  let rows: Promise<readonly Row[]> | undefined;
  return async ({ limit, after }) => {
    rows ??= readRows();
    const all = await rows;
    // Without `after`, the index is -1, so the page begins with the first row.
    const start = all.findIndex(({ id }) => id === after) + 1;
    return all.slice(start, start + limit);
  };
}

export default class JobsList extends ListCommand<typeof JobsList> {
  static override summary = 'List jobs: scheduled, locked, late, stuck or malformed.';
  static override description =
    'A job makes all attempts that are due together, of any partner. --partner lists those with a pending delivery of the partner; `wakes` counts the attempts of all.';
  static override examples = ['<%= config.bin %> jobs list', '<%= config.bin %> jobs list --partner ptr_…'];
  static override flags = {
    name: Flags.string({ description: 'only jobs of this name' }),
    partner: idFlag('partner')({ description: 'only jobs with a pending delivery of this partner' }),
    ...pageFlags,
  };

  async run() {
    const { name, partner } = this.flags;
    const wanted = { name };
    return this.showList({
      ...(partner === undefined
        ? {
            page: (page) => this.api.jobs.list.query({ ...wanted, ...page }),
            count: () => this.api.jobs.count.query(wanted),
          }
        : { page: pagesOf(() => this.#ofPartner(partner)) }),
      fields: async () => Object.keys((await import('../../../contracts/admin/jobs.ts')).JobView.shape),
      columns: ['id', 'name', 'state', 'nextRunAt', 'lockedAt', 'lockedBy', 'wakes', 'failReason'],
      dropIfNarrow: ['lockedBy', 'lockedAt', 'wakes', 'failReason'],
    });
  }

  /** Returns the jobs of the seconds in which deliveries of a partner are due. */
  async #ofPartner(partnerId: string) {
    const { name } = this.flags;
    const [pending, jobs] = await Promise.all([
      readAll((page) => this.api.deliveries.list.query({ partnerId, status: 'pending', ...page })),
      readAll((page) => this.api.jobs.list.query({ name, ...page })),
    ]);
    const secondOf = (at: string) => new Date(Math.floor(Date.parse(at) / secondMs) * secondMs).toISOString();
    const due = new Set(
      pending.flatMap(({ nextAttemptAt }) => (nextAttemptAt ? secondOf(nextAttemptAt) : [])),
    );
    return jobs.filter(({ data }) => due.has(data.key));
  }
}
