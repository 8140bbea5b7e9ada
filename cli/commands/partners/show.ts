import { Args } from '@oclif/core';
import { AdminCommand } from '../../program/base-command.ts';

export default class PartnersShow extends AdminCommand<typeof PartnersShow> {
  static override summary = 'Show a partner.';
  static override examples = ['<%= config.bin %> partners show ptr_…'];
  static override args = { partner: Args.string({ description: 'id of the partner', required: true }) };

  async run() {
    const partner = await this.api.partners.show.query({ partnerId: this.args.partner });
    const { brandRequest, ...others } = partner;
    // Most partners have no request.
    return this.showRecord(
      partner,
      brandRequest ? undefined : (Object.keys(others) as (keyof typeof others)[]),
    );
  }
}
