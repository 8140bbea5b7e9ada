import { CarefulCommand } from '../../careful/careful-command.ts';
import { duration, localTimeIn, outFile } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

export default class IntegrationsRotateSecret extends CarefulCommand<typeof IntegrationsRotateSecret> {
  static override summary =
    'Rotate the secret of a storefront integration. The old one becomes invalid immediately, or after --keep-old.';
  static override examples = [
    '<%= config.bin %> integrations rotate-secret int_…',
    '<%= config.bin %> integrations rotate-secret int_… --keep-old 24h',
  ];
  static override args = {
    integration: idArg('integration')({ description: 'id of the integration', required: true }),
  };
  static override flags = {
    'keep-old': duration({ description: 'how long the present secret is still accepted' }),
    'out-file': outFile,
  };

  async run() {
    const keepOldSeconds = this.flags['keep-old'] ?? 0;
    const { id, mode, shops } = await this.api.integrations.show.query({
      integrationId: this.args.integration,
    });
    const calls = `Calls of ${shops.join(', ')} signed with the present one`;
    const oldOne =
      keepOldSeconds > 0
        ? `${calls} are accepted until ${localTimeIn(keepOldSeconds)}.`
        : `${calls} get 401 at once.`;
    const consequence = `${id} gets a new secret. ${oldOne}`;
    return this.runConfirmed({ id, consequence, isLive: mode === 'live' }, () =>
      this.showWithSecret('integrationSecret', () =>
        this.api.integrations.rotateSecret.mutate({ integrationId: id, keepOldSeconds }),
      ),
    );
  }
}
