import * as Flags from '@oclif/core/flags';
import { usageError } from '../../errors/failure.ts';
import { amount, withoutUndefined } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WarningsSet extends AdminCommand<typeof WarningsSet> {
  static override summary =
    'Set who is sent e-mails about warnings of a partner, and when its balance is low.';
  static override description =
    'E-mails need SVC_SMTP_URL, and are about live mode only. Without another threshold, a live balance is low once it is used up within 7 days.';
  static override examples = [
    '<%= config.bin %> warnings set ptr_… --email dev@shop.example --email ops@shop.example',
    '<%= config.bin %> warnings set ptr_… --low-balance 100',
    '<%= config.bin %> warnings set ptr_… --low-balance-days 14',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    email: Flags.string({
      description: 'address; repeat it for several, they replace those before',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'no-email': Flags.boolean({ description: 'to no address', exclusive: ['email'] }),
    'low-balance': amount({ description: 'low below so many dollars' }),
    'low-balance-days': Flags.integer({
      description: 'low once it is used up within so many days',
      exclusive: ['low-balance'],
    }),
    'low-balance-off': Flags.boolean({
      description: 'never low',
      exclusive: ['low-balance', 'low-balance-days'],
    }),
    'low-balance-default': Flags.boolean({
      description: 'back to the default',
      exclusive: ['low-balance', 'low-balance-days', 'low-balance-off'],
    }),
  };

  async run() {
    const emails = this.flags['no-email'] ? [] : this.flags.email;
    const wanted = withoutUndefined({ emails, lowBalance: this.#lowBalance() });
    if (Object.keys(wanted).length === 0)
      throw usageError('Give --email, --no-email or one of the flags of a low balance');
    return this.showRecord(await this.api.warnings.set.mutate({ partnerId: this.args.partner, ...wanted }));
  }

  /** Returns the threshold as the contract has it: null for the default, undefined if no flag changes it. */
  #lowBalance() {
    const { 'low-balance': cents, 'low-balance-days': days } = this.flags;
    if (this.flags['low-balance-default']) return null;
    if (this.flags['low-balance-off']) return 'off' as const;
    if (cents !== undefined) return { cents };
    return days === undefined ? undefined : { days };
  }
}
