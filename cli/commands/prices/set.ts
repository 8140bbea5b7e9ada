import { Args, Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';

export default class PricesSet extends AdminCommand<typeof PricesSet> {
  static override summary = 'Set what one billable event of a kind costs a partner.';
  static override examples = ['<%= config.bin %> prices set ptr_… --kind token --cents 40'];
  static override args = { partner: Args.string({ description: 'id of the partner', required: true }) };
  static override flags = {
    kind: Flags.option({ options: ['token', 'storefront', 'checkbox'] as const })({
      description: 'what is billed',
      required: true,
    }),
    cents: Flags.integer({ description: 'whole cents', required: true, min: 0 }),
  };

  async run() {
    const { kind, cents } = this.flags;
    const api = await this.api();
    return this.one(await api.prices.set.mutate({ partnerId: this.args.partner, kind, cents }));
  }
}
