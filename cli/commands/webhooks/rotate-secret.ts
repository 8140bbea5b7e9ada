import { CarefulCommand } from '../../careful/careful-command.ts';
import { outFile } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

export default class WebhooksRotateSecret extends CarefulCommand<typeof WebhooksRotateSecret> {
  static override summary =
    'Make a new signing secret for a webhook URL. The old one becomes invalid immediately.';
  static override examples = ['<%= config.bin %> webhooks rotate-secret key_…'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };
  static override flags = { 'out-file': outFile };

  async run() {
    const { keyId: id, mode } = await this.api.webhooks.show.query({ keyId: this.args.key });
    const consequence = `Every attempt from now on is signed with the new secret of ${id}; a receiver that still has the old one refuses them.`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, () =>
      this.showWithSecret('signingSecret', () => this.api.webhooks.rotateSecret.mutate({ keyId: id })),
    );
  }
}
