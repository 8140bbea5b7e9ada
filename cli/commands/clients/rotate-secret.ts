import { CarefulCommand } from '../../careful/careful-command.ts';
import { duration, localTimeIn, outFile } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

export default class ClientsRotateSecret extends CarefulCommand<typeof ClientsRotateSecret> {
  static override summary =
    'Rotate the secret of a client. The old one becomes invalid within 2 seconds, or after --keep-old.';
  static override examples = ['<%= config.bin %> clients rotate-secret cli_… --keep-old 24h'];
  static override args = { client: idArg('client')({ description: 'id of the client', required: true }) };
  static override flags = {
    'keep-old': duration({ description: 'how long the present secret is still accepted' }),
    'out-file': outFile,
  };

  async run() {
    const keepOldSeconds = this.flags['keep-old'] ?? 0;
    const { id, mode } = await this.api.clients.show.query({ clientId: this.args.client });
    const oldOne =
      keepOldSeconds > 0
        ? `The present one is accepted until ${localTimeIn(keepOldSeconds)}.`
        : 'Exchanges with the present one get 401 within 2 seconds.';
    return this.runConfirmed(
      { id, consequence: `${id} gets a new secret. ${oldOne}`, isLive: mode === 'live' },
      () =>
        this.showWithSecret('clientSecret', () =>
          this.api.clients.rotateSecret.mutate({ clientId: id, keepOldSeconds }),
        ),
    );
  }
}
