import { Args } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';

export default class JobsCancel extends AdminCommand<typeof JobsCancel> {
  static override summary = 'Cancel a job.';
  static override description = 'Deliveries are not stopped this way: `deliveries cancel` does that.';
  static override examples = ['<%= config.bin %> jobs cancel 65f0c0ffee65f0c0ffee65f0'];
  static override args = { job: Args.string({ description: 'id of the job', required: true }) };

  async run() {
    const api = await this.api();
    return this.one(await api.jobs.cancel.mutate({ jobId: this.args.job }));
  }
}
