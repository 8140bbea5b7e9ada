import { CarefulCommand } from '../../careful/careful-command.ts';
import { describePending } from '../../careful/served.ts';
import { idArg } from '../../flags/ids.ts';

export default class WebhooksUnset extends CarefulCommand<typeof WebhooksUnset> {
  static override summary = 'Remove the webhook URL of an API key.';
  static override examples = ['<%= config.bin %> webhooks unset key_…'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };

  async run() {
    const { keyId: id, url, mode } = await this.api.webhooks.show.query({ keyId: this.args.key });
    const pending = await describePending(this.api, { keyId: id });
    const consequence = `Events of ${id} are sent to ${url ?? 'no URL'} no longer; attempts still to come are skipped: ${pending}.`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.webhooks.unset.mutate({ keyId: id })),
    );
  }
}
