import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WebhooksResume extends AdminCommand<typeof WebhooksResume> {
  static override summary =
    'End the pause of an API key: what has waited is sent, in the order in which it was due.';
  static override examples = ['<%= config.bin %> webhooks resume key_…'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };

  async run() {
    return this.showRecord(await this.api.webhooks.resume.mutate({ keyId: this.args.key }));
  }
}
