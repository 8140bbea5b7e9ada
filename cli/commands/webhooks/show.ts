import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WebhooksShow extends AdminCommand<typeof WebhooksShow> {
  static override summary = 'Show the webhook URL of an API key.';
  static override examples = ['<%= config.bin %> webhooks show key_…'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };

  async run() {
    return this.showRecord(await this.api.webhooks.show.query({ keyId: this.args.key }));
  }
}
