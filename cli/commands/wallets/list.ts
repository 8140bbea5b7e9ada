import * as Flags from '@oclif/core/flags';
import { usageError } from '../../errors/failure.ts';
import { amount, modeFilter, pageFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';
import { localTime } from '../../output/format.ts';

/** The most days that the server accepts: ten years. */
const mostDays = 3_650;
const days = Flags.custom<number>({
  helpValue: '7',
  async parse(text) {
    if (/^\d{1,4}(\.\d+)?$/.test(text) && Number(text) <= mostDays) return Number(text);
    throw usageError(`${text} is not a number of days such as 7`);
  },
});

export default class WalletsList extends ListCommand<typeof WalletsList> {
  static override summary = 'List wallets with their spending, to find those that will be empty.';
  static override description =
    'Spending is the average of about seven days. `Unpaid` counts exchanges of seven days that the wallet could not pay for. --days-left sorts by the time left, --below by the balance. Both omit wallets that were never funded, unless these could not pay. --days-left has first those that could not pay and spend nothing. All three show balances that are up to 15 seconds old; svcadmin wallets show has the present one.';
  static override examples = [
    '<%= config.bin %> wallets list --mode live --days-left 7',
    '<%= config.bin %> wallets list --mode live --below 50.00',
    '<%= config.bin %> wallets list --mode live --never-funded',
  ];
  static override flags = {
    mode: modeFilter,
    below: amount({ description: 'only wallets with a lower balance' }),
    'days-left': days({ description: 'only wallets that are empty within this many days' }),
    'never-funded': Flags.boolean({
      description: 'only wallets without any entry',
      exclusive: ['below', 'days-left'],
    }),
    ...pageFlags,
  };

  async run() {
    const { mode, below, 'days-left': daysLeft, 'never-funded': isUnfunded } = this.flags;
    // The server accepts `unfunded` only as true.
    const wanted = { mode, below, daysLeft, unfunded: isUnfunded || undefined };
    return this.showList({
      page: (page) => this.api.wallets.list.query({ ...wanted, ...page }),
      count: () => this.api.wallets.count.query(wanted),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/wallets.ts')).WalletListing.shape),
      columns: ['id', 'partnerName', 'balance', 'spentPerDay', 'daysLeft', 'unpaid', 'lastEntryAt'],
      notes: ([row]) =>
        row?.unpaidSampledSince
          ? [`Unpaid is about, sampled since ${localTime(row.unpaidSampledSince)}.`]
          : [],
    });
  }
}
