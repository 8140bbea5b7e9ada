import * as Args from '@oclif/core/args';
import { AdminCommand } from '../../program/base-command.ts';

export default class JobsShow extends AdminCommand<typeof JobsShow> {
  static override summary = 'Show a job, and the attempts that wait for it.';

  static override examples = ['<%= config.bin %> jobs show 65f0c0ffee65f0c0ffee65f0'];
  static override args = { job: Args.string({ description: 'id of the job', required: true }) };

  async run() {
    const job = await this.api.jobs.show.query({ jobId: this.args.job });
    const { attempts, deliveryIds: _ids, ...rest } = job;
    this.showRecord(rest);
    if (attempts.length > 0)
      this.showTable(attempts, ['deliveryId', 'event', 'attempt', 'keyId', 'mode', 'nextAttemptAt'], {
        dropIfNarrow: ['keyId', 'mode'],
      });
    return job;
  }
}
