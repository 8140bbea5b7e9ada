import { Args } from '@oclif/core';
import { localTime } from '../../output/format.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class ClientsShow extends AdminCommand<typeof ClientsShow> {
  static override summary = 'Show a client, without its secrets.';
  static override examples = ['<%= config.bin %> clients show cli_…'];
  static override args = { client: Args.string({ description: 'id of the client', required: true }) };

  async run() {
    const client = await this.api.clients.show.query({ clientId: this.args.client });
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
