import * as Args from '@oclif/core/args';
import { AdminCommand } from '../../program/base-command.ts';

export default class PartnersCreate extends AdminCommand<typeof PartnersCreate> {
  static override summary = 'Create a partner, with an empty test and live wallet.';
  static override description =
    'A new partner is pending. Its clients and keys are refused until `partners activate`.';
  static override examples = ['<%= config.bin %> partners create "Acme Ltd"'];
  static override args = { name: Args.string({ description: 'name of the company', required: true }) };

  async run() {
    return this.showRecord(await this.api.partners.create.mutate({ name: this.args.name }));
  }
}
