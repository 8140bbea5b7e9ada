import { CarefulCommand } from '../../careful/careful-command.ts';
import { duration, localTimeIn, outFile } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

export default class KeysRotate extends CarefulCommand<typeof KeysRotate> {
  static override summary =
    'Rotate the secret of an API key. The old one becomes invalid immediately, or after --keep-old.';
  static override description = 'The id, the sessions, the clients and the webhook URL of the key stay.';
  static override examples = [
    '<%= config.bin %> keys rotate key_…',
    '<%= config.bin %> keys rotate key_… --keep-old 24h',
  ];
  static override args = { key: idArg('apiKey')({ description: 'id of the API key', required: true }) };
  static override flags = {
    'keep-old': duration({ description: 'how long the present secret is still accepted' }),
    'out-file': outFile,
  };

  async run() {
    const keepOldSeconds = this.flags['keep-old'] ?? 0;
    const { id, mode, last4 } = await this.api.keys.show.query({ keyId: this.args.key });
    const oldOne =
      keepOldSeconds > 0
        ? `The present one (…${last4}) is accepted until ${localTimeIn(keepOldSeconds)}.`
        : `Requests with the old one (…${last4}) get 401 from that moment on.`;
    const consequence = `${id} gets a new secret. ${oldOne}`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, () =>
      this.showWithSecret('apiKey', () => this.api.keys.rotate.mutate({ keyId: id, keepOldSeconds })),
    );
  }
}
