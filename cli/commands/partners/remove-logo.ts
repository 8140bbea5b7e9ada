import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class PartnersRemoveLogo extends AdminCommand<typeof PartnersRemoveLogo> {
  static override summary = 'Remove the logo of a partner. Pages then show the first letter of its name.';
  static override examples = ['<%= config.bin %> partners remove-logo ptr_…'];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };

  async run() {
    return this.showRecord(await this.api.partners.removeLogo.mutate({ partnerId: this.args.partner }));
  }
}
