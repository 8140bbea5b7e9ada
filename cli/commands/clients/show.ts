import * as Args from '@oclif/core/args';
import { localTime } from '../../output/format.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { findClientId } from '../../show/by-name.ts';

export default class ClientsShow extends AdminCommand<typeof ClientsShow> {
  static override summary = 'Show a client by its id or its name, without its secrets.';
  static override examples = [
    '<%= config.bin %> clients show cli_…',
    '<%= config.bin %> clients show "box office"',
  ];
  static override args = { client: Args.string({ description: 'id or name of the client', required: true }) };

  async run() {
    const clientId = await findClientId(this.api, this.args.client);
    const client = await this.api.clients.show.query({ clientId });
    const secrets = client.secrets.map(({ last4, expiresAt, lastUsedAt }) =>
      [
        expiresAt === null ? 'the current one' : `an old one until ${localTime(expiresAt)}`,
        ...(last4 === null ? [] : [`ends in ${last4}`]),
        lastUsedAt === null ? 'no use is known' : `last used ${localTime(lastUsedAt)}`,
      ].join(', '),
    );
    this.showRecord({ ...client, secrets: secrets.join('; ') });
    return client;
  }
}
