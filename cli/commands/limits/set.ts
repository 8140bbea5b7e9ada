import { Args, Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { usageError } from '../../failure.ts';
import { given, mode } from '../../flags.ts';

export default class LimitsSet extends AdminCommand<typeof LimitsSet> {
  static override summary = 'Set how many billable events a partner may make in a minute and an hour.';
  static override examples = [
    '<%= config.bin %> limits set ptr_… --mode live --per-minute 300 --per-hour 5000',
  ];
  static override args = { partner: Args.string({ description: 'id of the partner', required: true }) };
  static override flags = {
    mode,
    'per-minute': Flags.integer({ description: 'events in a minute', min: 0 }),
    'per-hour': Flags.integer({ description: 'events in an hour', min: 0 }),
  };

  async run() {
    const caps = given({ perMinute: this.flags['per-minute'], perHour: this.flags['per-hour'] });
    if (Object.keys(caps).length === 0) throw usageError('Give --per-minute, --per-hour or both');
    const api = await this.api();
    return this.one(
      await api.limits.set.mutate({ partnerId: this.args.partner, mode: this.flags.mode, ...caps }),
    );
  }
}
