import * as Args from '@oclif/core/args';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { listAttempts } from '../../deliveries/views.ts';
import { localTime } from '../../output/format.ts';

export default class JobsCancel extends CarefulCommand<typeof JobsCancel> {
  static override summary = 'Cancel a job, and the attempts that wait for it.';
  static override description =
    'Their deliveries end as skipped. The events are kept, and `deliveries resend` sends them again.';
  static override examples = [
    '<%= config.bin %> jobs cancel 65f0c0ffee65f0c0ffee65f0 --dry-run',
    '<%= config.bin %> jobs cancel 65f0c0ffee65f0c0ffee65f0',
  ];
  static override args = { job: Args.string({ description: 'id of the job', required: true }) };

  async run() {
    const job = await this.api.jobs.show.query({ jobId: this.args.job });
    // `wakes` counts the attempts that wait for the job. At most 500 of them are listed.
    const { id, name, nextRunAt, wakes, attempts, deliveryIds } = job;
    const time = nextRunAt === null ? '' : ` of ${localTime(nextRunAt)}`;
    const what = `The job ${name}${time} is cancelled`;
    const consequence =
      wakes === 0
        ? `${what}. No attempt waits for it.`
        : `${what}, and these deliveries end as skipped:\n${listAttempts(attempts, wakes)}`;
    const isLive = attempts.some(({ mode }) => mode === 'live');
    const result = await this.runConfirmed({ id, consequence, isLive }, async () => {
      const cancelled = await this.api.jobs.cancel.mutate({ jobId: id });
      this.showRecord({ id, name, cancelled: cancelled.wakes, deliveryIds: cancelled.deliveryIds });
      return cancelled;
    });
    // A dry run also names the deliveries that would end.
    return 'dryRun' in result ? { ...result, deliveryIds } : result;
  }
}
