import { CarefulCommand } from '../../careful/careful-command.ts';
import { idArg } from '../../flags/ids.ts';

export default class IntegrationsDisable extends CarefulCommand<typeof IntegrationsDisable> {
  static override summary = 'Disable a storefront integration permanently.';
  static override description =
    'Its signed calls get 401. A client without another integration starts no more sessions.';
  static override examples = ['<%= config.bin %> integrations disable int_…'];
  static override args = {
    integration: idArg('integration')({ description: 'id of the integration', required: true }),
  };

  async run() {
    const { id, mode, shops } = await this.api.integrations.show.query({
      integrationId: this.args.integration,
    });
    const consequence = `${id} ends at once and for good: calls of ${shops.join(', ')} get 401.`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.integrations.disable.mutate({ integrationId: id })),
    );
  }
}
