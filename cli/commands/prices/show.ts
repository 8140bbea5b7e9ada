import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class PricesShow extends AdminCommand<typeof PricesShow> {
  static override summary =
    'Show the prices of billable events, in cents: of a partner, or the standard prices.';
  static override examples = ['<%= config.bin %> prices show ptr_…'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner' }) };

  async run() {
    return this.showRecord(await this.api.prices.show.query({ partnerId: this.args.partner }));
  }
}
