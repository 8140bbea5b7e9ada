import * as Flags from '@oclif/core/flags';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeChanges } from '../../careful/previews.ts';
import { usageError } from '../../errors/failure.ts';
import { mode, withoutUndefined } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { formatValue } from '../../output/format.ts';

export default class LimitsSet extends CarefulCommand<typeof LimitsSet> {
  static override summary = 'Set the spend limits of a partner: billable events in a minute and an hour.';
  static override examples = [
    '<%= config.bin %> limits set ptr_… --mode live --per-minute 300 --per-hour 5000',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    mode,
    'per-minute': Flags.integer({ description: 'events in a minute', min: 0 }),
    'per-hour': Flags.integer({ description: 'events in an hour', min: 0 }),
    'ceiling-per-minute': Flags.integer({
      description: 'ceiling of --per-minute for members',
      min: 0,
    }),
    'ceiling-per-hour': Flags.integer({ description: 'ceiling of --per-hour for members', min: 0 }),
    'no-ceiling': Flags.boolean({
      description: 'remove both ceilings',
      exclusive: ['ceiling-per-minute', 'ceiling-per-hour'],
    }),
  };

  async run() {
    const { flags } = this;
    // Without flags of an operator, as in svc, these are undefined.
    const none = flags['no-ceiling'] ? null : undefined;
    const caps = withoutUndefined({
      perMinute: flags['per-minute'],
      perHour: flags['per-hour'],
      ceilingPerMinute: flags['ceiling-per-minute'] ?? none,
      ceilingPerHour: flags['ceiling-per-hour'] ?? none,
    });
    if (Object.keys(caps).length === 0) throw usageError('Give --per-minute, --per-hour or both');
    const wallet = { partnerId: this.args.partner, mode: this.flags.mode };
    const { used, ...limits } = await this.api.limits.show.query(wallet);
    const consequence = `Spend limits of the ${wallet.mode} wallet of ${wallet.partnerId}: ${describeChanges(limits, caps)}. Used now: ${formatValue('used', used)}.`;
    const intent = {
      id: wallet.partnerId,
      consequence,
      isLive: wallet.mode === 'live',
      confirm: 'only-live-at-terminal',
    } as const;
    return this.runConfirmed(intent, async () =>
      this.showRecord(await this.api.limits.set.mutate({ ...wallet, ...caps })),
    );
  }
}
