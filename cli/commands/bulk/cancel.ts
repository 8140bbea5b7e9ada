import { CarefulCommand } from '../../careful/careful-command.ts';
import { bulkFields } from '../../deliveries/bulk.ts';
import { idArg } from '../../flags/ids.ts';

export default class BulkCancel extends CarefulCommand<typeof BulkCancel> {
  static override summary = 'Cancel a bulk job: it does nothing more.';
  static override description = 'What it has done stays. The same command again goes on with the rest.';
  static override examples = ['<%= config.bin %> bulk cancel blk_…'];
  static override args = { job: idArg('bulkJob')({ description: 'id of the bulk job', required: true }) };

  async run() {
    const { id, action, done, total, keys } = await this.api.bulk.show.query({ bulkId: this.args.job });
    const consequence = `The bulk job ${id} (${action}) ends after ${done} of ${total}.`;
    const isLive = keys.some(({ mode }) => mode === 'live');
    return this.runConfirmed({ id, consequence, isLive }, async () =>
      this.showRecord(await this.api.bulk.cancel.mutate({ bulkId: id }), bulkFields),
    );
  }
}
