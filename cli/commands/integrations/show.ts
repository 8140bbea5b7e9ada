import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class IntegrationsShow extends AdminCommand<typeof IntegrationsShow> {
  static override summary = 'Show a storefront integration, without its secret.';
  static override examples = ['<%= config.bin %> integrations show int_…'];
  static override args = {
    integration: idArg('integration')({ description: 'id of the integration', required: true }),
  };

  async run() {
    return this.showRecord(await this.api.integrations.show.query({ integrationId: this.args.integration }));
  }
}
