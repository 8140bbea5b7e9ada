import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class ClientsEnable extends AdminCommand<typeof ClientsEnable> {
  static override summary = 'Enable a disabled client.';
  static override examples = ['<%= config.bin %> clients enable cli_…'];
  static override args = { client: idArg('client')({ description: 'id of the client', required: true }) };

  async run() {
    return this.showRecord(await this.api.clients.enable.mutate({ clientId: this.args.client }));
  }
}
