import { Args } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';

export default class PartnersSuspend extends AdminCommand<typeof PartnersSuspend> {
  static override summary = 'Suspend a partner until it is activated again.';
  static override description =
    'Its clients and keys stop serving, and its webhooks are skipped; nothing is lost.';
  static override examples = ['<%= config.bin %> partners suspend ptr_…'];
  static override args = { partner: Args.string({ description: 'id of the partner', required: true }) };

  async run() {
    const api = await this.api();
    return this.one(await api.partners.suspend.mutate({ partnerId: this.args.partner }));
  }
}
