import { Args } from '@oclif/core';
import { AdminCommand } from '../../program/base-command.ts';

export default class PartnersActivate extends AdminCommand<typeof PartnersActivate> {
  static override summary = 'Activate a partner that is pending or suspended.';
  static override examples = ['<%= config.bin %> partners activate ptr_…'];
  static override args = { partner: Args.string({ description: 'id of the partner', required: true }) };

  async run() {
    return this.showRecord(await this.api.partners.activate.mutate({ partnerId: this.args.partner }));
  }
}
