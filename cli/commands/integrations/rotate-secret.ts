import { Args } from '@oclif/core';
import { CarefulCommand } from '../../careful-command.ts';
import { outFile } from '../../flags.ts';

export default class IntegrationsRotateSecret extends CarefulCommand<typeof IntegrationsRotateSecret> {
  static override summary =
    'Rotate the secret of a storefront integration. The old one becomes invalid immediately.';
  static override examples = ['<%= config.bin %> integrations rotate-secret int_…'];
  static override args = {
    integration: Args.string({ description: 'id of the integration', required: true }),
  };
  static override flags = { 'out-file': outFile };

  async run() {
    const api = await this.api();
    const { id, mode, shops } = await api.integrations.show.query({ integrationId: this.args.integration });
    const consequence = `${id} gets a new secret. Calls of ${shops.join(', ')} signed with the present one get 401 at once.`;
    return this.confirmed({ id, consequence, live: mode === 'live' }, () =>
      this.withSecret('integrationSecret', () => api.integrations.rotateSecret.mutate({ integrationId: id })),
    );
  }
}
