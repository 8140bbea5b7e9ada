import { Args } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';

export default class ClientsShow extends AdminCommand<typeof ClientsShow> {
  static override summary = 'Show a client, without its secrets.';
  static override examples = ['<%= config.bin %> clients show cli_…'];
  static override args = { client: Args.string({ description: 'id of the client', required: true }) };

  async run() {
    const api = await this.api();
    return this.one(await api.clients.show.query({ clientId: this.args.client }));
  }
}
