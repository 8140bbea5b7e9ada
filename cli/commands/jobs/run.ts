import { Args } from '@oclif/core';
import { AdminCommand } from '../../program/base-command.ts';

export default class JobsRun extends AdminCommand<typeof JobsRun> {
  static override summary = 'Run a job now.';
  static override description = 'The attempts that wait for it become due.';

  static override examples = ['<%= config.bin %> jobs run 65f0c0ffee65f0c0ffee65f0'];
  static override args = { job: Args.string({ description: 'id of the job', required: true }) };

  async run() {
    const job = await this.api.jobs.run.mutate({ jobId: this.args.job });
    this.showRecord(job, ['id', 'name', 'wakes', 'deliveryIds']);
    return job;
  }
}
