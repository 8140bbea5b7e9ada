import { Args, Flags } from '@oclif/core';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeChanges } from '../../careful/previews.ts';

export default class PricesSet extends CarefulCommand<typeof PricesSet> {
  static override summary = 'Set the price of a billable event for a partner.';
  static override examples = ['<%= config.bin %> prices set ptr_… --kind token --cents 40'];
  static override args = { partner: Args.string({ description: 'id of the partner', required: true }) };
  static override flags = {
    kind: Flags.option({ options: ['token', 'storefront', 'checkbox'] as const })({
      description: 'kind of billable event',
      required: true,
    }),
    cents: Flags.integer({ description: 'whole cents', required: true, min: 0 }),
  };

  async run() {
    const { kind, cents } = this.flags;
    const partnerId = this.args.partner;
    const prices = await this.api.prices.show.query({ partnerId });
    const consequence = `Every charge of ${partnerId} from now on, test and live: ${describeChanges(prices, { [kind]: cents })} USD.`;
    return this.runConfirmed(
      { id: partnerId, consequence, isLive: true, confirm: 'only-at-terminal' },
      async () => this.showRecord(await this.api.prices.set.mutate({ partnerId, kind, cents })),
    );
  }
}
