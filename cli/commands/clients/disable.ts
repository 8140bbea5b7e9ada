import { CarefulCommand } from '../../careful/careful-command.ts';
import { actReason } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

export default class ClientsDisable extends CarefulCommand<typeof ClientsDisable> {
  static override summary = 'Disable a client until it is enabled again.';
  static override description =
    'New sessions are refused with 400, exchanges with 403 client_inactive. A test client needs no confirmation.';
  static override examples = ['<%= config.bin %> clients disable cli_…'];
  static override args = { client: idArg('client')({ description: 'id of the client', required: true }) };
  static override flags = { reason: actReason };

  async run() {
    const { id, name, mode, partnerId } = await this.api.clients.show.query({ clientId: this.args.client });
    const consequence = `The ${mode} client ${name} (${id}) of ${partnerId} stops until it is enabled again: new sessions get 400, exchanges 403.`;
    return this.runConfirmed(
      { id, consequence, isLive: mode === 'live', confirm: 'only-live-at-terminal' },
      async () =>
        this.showRecord(await this.api.clients.disable.mutate({ clientId: id, reason: this.flags.reason })),
    );
  }
}
