import { CarefulCommand } from '../../careful/careful-command.ts';
import { CommandError } from '../../errors/failure.ts';
import { idArg } from '../../flags/ids.ts';

export default class WebhooksSwitchSecret extends CarefulCommand<typeof WebhooksSwitchSecret> {
  static override summary =
    'Sign webhooks with the prepared secret. The present one becomes invalid immediately.';
  static override description =
    'Run it once the receiver accepts both: `webhooks prepare-secret` makes the next one.';
  static override examples = ['<%= config.bin %> webhooks switch-secret key_…'];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };

  async run() {
    const { keyId: id, mode, prepared, last4 } = await this.api.webhooks.show.query({ keyId: this.args.key });
    if (!prepared)
      throw new CommandError({
        code: 'conflict',
        message: `API key ${id} has no prepared signing secret`,
        hint: `svcadmin webhooks prepare-secret ${id}`,
      });
    const consequence = `Every attempt from now on is signed with the secret …${prepared.last4}; a receiver that has only the present one (…${last4 ?? '?'}) refuses them.`;
    // The server refuses if another secret has been prepared since, because the person has not confirmed that one.
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, async () =>
      this.showRecord(await this.api.webhooks.switchSecret.mutate({ keyId: id, last4: prepared.last4 })),
    );
  }
}
