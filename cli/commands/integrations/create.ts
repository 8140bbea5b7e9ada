import * as Flags from '@oclif/core/flags';
import { outFile } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class IntegrationsCreate extends AdminCommand<typeof IntegrationsCreate> {
  static override summary = 'Create a storefront integration. Its secret is shown once.';
  static override description =
    'Its shops exchange the codes of one storefront client by signed calls. Its mode is that of the client.';
  static override examples = [
    '<%= config.bin %> integrations create --partner ptr_… --client cli_… --shop shop.example --shop shop.example.de',
  ];
  static override flags = {
    partner: idFlag('partner')({ description: 'id of the partner', required: true }),
    client: idFlag('client')({
      description: 'id of the storefront client whose codes it exchanges',
      required: true,
    }),
    shop: Flags.string({
      description: 'host name of a shop; may be repeated',
      required: true,
      multiple: true,
    }),
    'out-file': outFile,
  };

  async run() {
    const { partner, client, shop } = this.flags;
    return this.showWithSecret('integrationSecret', () =>
      this.api.integrations.create.mutate({ partnerId: partner, clientId: client, shops: shop }),
    );
  }
}
