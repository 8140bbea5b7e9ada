import * as Args from '@oclif/core/args';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { listAttempts } from '../../deliveries/views.ts';
import { dueAt, newTime } from '../../flags/flags.ts';
import { localTime } from '../../output/format.ts';

export default class JobsReschedule extends CarefulCommand<typeof JobsReschedule> {
  static override summary = 'Reschedule a job, with the attempts that wait for it.';
  static override examples = [
    '<%= config.bin %> jobs reschedule 65f0c0ffee65f0c0ffee65f0 --in 2h',
    '<%= config.bin %> jobs reschedule 65f0c0ffee65f0c0ffee65f0 --at 2026-07-01T09:00',
  ];
  static override args = { job: Args.string({ description: 'id of the job', required: true }) };
  static override flags = newTime;

  async run() {
    const { id, name, nextRunAt, attempts, wakes } = await this.api.jobs.show.query({ jobId: this.args.job });
    const time = nextRunAt === null ? '' : ` of ${localTime(nextRunAt)}`;
    const consequence = `The job ${name}${time} gets another time, with what waits for it.\n${listAttempts(attempts, wakes)}`;
    const isLive = attempts.some(({ mode }) => mode === 'live');
    return this.runConfirmed({ id, consequence, isLive, confirm: 'only-live-at-terminal' }, async () => {
      const job = await this.api.jobs.reschedule.mutate({ jobId: id, ...dueAt(this.flags) });
      this.showRecord(job, ['id', 'name', 'state', 'nextRunAt', 'wakes', 'deliveryIds']);
      return job;
    });
  }
}
