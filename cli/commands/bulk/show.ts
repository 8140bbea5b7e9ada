import * as Flags from '@oclif/core/flags';
import { bulkFields, followJob } from '../../deliveries/bulk.ts';
import { createProgress } from '../../deliveries/progress.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class BulkShow extends AdminCommand<typeof BulkShow> {
  static override summary = 'Show a bulk job, and how far it is with each API key.';
  static override examples = [
    '<%= config.bin %> bulk show blk_…',
    '<%= config.bin %> bulk show blk_… --follow',
  ];
  static override args = { job: idArg('bulkJob')({ description: 'id of the bulk job', required: true }) };
  static override flags = {
    follow: Flags.boolean({ description: 'wait for its end; Ctrl-C ends the waiting, and not the job' }),
  };

  async run() {
    const read = () => this.api.bulk.show.query({ bulkId: this.args.job });
    let job = await read();
    if (this.flags.follow) {
      await followJob(this.api, job, createProgress(process.stderr));
      job = await read();
    }
    this.showRecord(job, bulkFields);
    this.showTable(
      job.keys,
      ['keyId', 'partnerId', 'partnerName', 'mode', 'total', 'done', 'leftOut', 'finished', 'waits'],
      { dropIfNarrow: ['partnerId'] },
    );
    return job;
  }
}
