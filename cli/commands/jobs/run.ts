import * as Args from '@oclif/core/args';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { listAttempts } from '../../deliveries/views.ts';

export default class JobsRun extends CarefulCommand<typeof JobsRun> {
  static override summary = 'Run a job now.';
  static override description = 'The attempts that wait for it become due.';

  static override examples = [
    '<%= config.bin %> jobs run 65f0c0ffee65f0c0ffee65f0 --dry-run',
    '<%= config.bin %> jobs run 65f0c0ffee65f0c0ffee65f0',
  ];
  static override args = { job: Args.string({ description: 'id of the job', required: true }) };

  async run() {
    const { id, name, attempts, wakes } = await this.api.jobs.show.query({ jobId: this.args.job });
    const consequence = `The job ${name} runs now: what waits for it becomes due.\n${listAttempts(attempts, wakes)}`;
    const isLive = attempts.some(({ mode }) => mode === 'live');
    return this.runConfirmed({ id, consequence, isLive, confirm: 'only-live-at-terminal' }, async () => {
      const job = await this.api.jobs.run.mutate({ jobId: id });
      this.showRecord(job, ['id', 'name', 'wakes', 'deliveryIds']);
      return job;
    });
  }
}
