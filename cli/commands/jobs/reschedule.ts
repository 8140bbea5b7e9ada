import { Args } from '@oclif/core';
import { dueAt, newTime } from '../../flags/flags.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class JobsReschedule extends AdminCommand<typeof JobsReschedule> {
  static override summary = 'Reschedule a job, with the attempts that wait for it.';
  static override examples = [
    '<%= config.bin %> jobs reschedule 65f0c0ffee65f0c0ffee65f0 --in 2h',
    '<%= config.bin %> jobs reschedule 65f0c0ffee65f0c0ffee65f0 --at 2026-07-01T09:00',
  ];
  static override args = { job: Args.string({ description: 'id of the job', required: true }) };
  static override flags = newTime;

  async run() {
    const job = await this.api.jobs.reschedule.mutate({ jobId: this.args.job, ...dueAt(this.flags) });
    this.showRecord(job, ['id', 'name', 'state', 'nextRunAt', 'wakes', 'deliveryIds']);
    return job;
  }
}
