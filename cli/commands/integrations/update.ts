import * as Flags from '@oclif/core/flags';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeListChange } from '../../careful/previews.ts';
import { usageError } from '../../errors/failure.ts';
import { withoutUndefined } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

export default class IntegrationsUpdate extends CarefulCommand<typeof IntegrationsUpdate> {
  static override summary = 'Add shops to a storefront integration, or remove some.';
  static override description =
    'Its secret stays. Calls of a shop that is removed get 404. A change of a test integration needs no confirmation.';
  static override examples = [
    '<%= config.bin %> integrations update int_… --add-shop shop.example.fr --remove-shop old.example',
  ];
  static override args = {
    integration: idArg('integration')({ description: 'id of the integration', required: true }),
  };
  static override flags = {
    'add-shop': Flags.string({ description: 'host name of a shop; may be repeated', multiple: true }),
    'remove-shop': Flags.string({ description: 'host name of a shop; may be repeated', multiple: true }),
  };

  async run() {
    const wanted = withoutUndefined({
      addShops: this.flags['add-shop'],
      removeShops: this.flags['remove-shop'],
    });
    if (Object.keys(wanted).length === 0) throw usageError('Give --add-shop, --remove-shop or both');
    const { id, mode, shops } = await this.api.integrations.show.query({
      integrationId: this.args.integration,
    });
    const change = describeListChange(shops, wanted.addShops, wanted.removeShops);
    const consequence = `The shops of the ${mode} integration ${id} change: ${change}.`;
    return this.runConfirmed(
      { id, consequence, isLive: mode === 'live', confirm: 'only-live-at-terminal' },
      async () =>
        this.showRecord(await this.api.integrations.update.mutate({ integrationId: id, ...wanted })),
    );
  }
}
