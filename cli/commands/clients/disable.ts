import { Args } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';

export default class ClientsDisable extends AdminCommand<typeof ClientsDisable> {
  static override summary = 'Disable a client until it is enabled again.';
  static override description = 'New sessions are refused with 400, exchanges with 403 client_inactive.';
  static override examples = ['<%= config.bin %> clients disable cli_…'];
  static override args = { client: Args.string({ description: 'id of the client', required: true }) };

  async run() {
    const api = await this.api();
    return this.one(await api.clients.disable.mutate({ clientId: this.args.client }));
  }
}
