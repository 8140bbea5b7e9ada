import * as Args from '@oclif/core/args';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { idArg } from '../../flags/ids.ts';

export default class WebhooksNotices extends CarefulCommand<typeof WebhooksNotices> {
  static override summary =
    'Send notices to the URL of an API key, beside the events of the interface, or stop that.';
  static override description =
    'Notices are about a low balance, an endpoint that fails, an old secret that ends, and a spend cap. Their names begin with `notice.`, and they are of the mode of the key.';
  static override examples = ['<%= config.bin %> webhooks notices key_… on'];
  static override args = {
    key: idArg('apiKey')({ description: 'id of the API key', required: true }),
    state: Args.string({ description: 'on or off', options: ['on', 'off'], required: true }),
  };

  async run() {
    const notices = this.args.state === 'on';
    const { keyId: id, mode, url } = await this.api.webhooks.show.query({ keyId: this.args.key });
    const where = `${url ?? 'the URL'} of ${id} (${mode})`;
    const consequence = notices
      ? `Notices are sent to ${where}, beside the events of the interface.`
      : `No notices are sent to ${where} any more.`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.webhooks.setNotices.mutate({ keyId: id, notices })),
    );
  }
}
