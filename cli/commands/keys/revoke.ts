import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeServedByKey } from '../../careful/served.ts';
import { idArg } from '../../flags/ids.ts';

export default class KeysRevoke extends CarefulCommand<typeof KeysRevoke> {
  static override summary = 'Revoke an API key permanently.';
  static override description =
    'Its clients answer client_inactive until `clients update --key` moves them. Its webhooks are skipped.';
  static override examples = ['<%= config.bin %> keys revoke key_…'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };

  async run() {
    const { id, mode } = await this.api.keys.show.query({ keyId: this.args.key });
    const served = await describeServedByKey(this.api, id);
    const consequence = `${id} ends at once and for good: ${served} stop. Clients work again when they move to another key.`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.keys.revoke.mutate({ keyId: id })),
    );
  }
}
