import { outFile } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class WebhooksPrepareSecret extends AdminCommand<typeof WebhooksPrepareSecret> {
  static override summary =
    'Make the next signing secret for a webhook URL. It signs nothing until it is switched to.';
  static override description =
    'The receiver is given it beside the present one; then `webhooks switch-secret` makes it the only one. One that was prepared before is dropped.';
  static override examples = ['<%= config.bin %> webhooks prepare-secret key_… --out-file next-secret'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };
  static override flags = { 'out-file': outFile };

  async run() {
    return this.showWithSecret('signingSecret', () =>
      this.api.webhooks.prepareSecret.mutate({ keyId: this.args.key }),
    );
  }
}
