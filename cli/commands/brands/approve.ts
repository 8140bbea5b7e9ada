import { describeWaiting, findWaiting } from '../../careful/brands.ts';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { idArg } from '../../flags/ids.ts';

export default class BrandsApprove extends CarefulCommand<typeof BrandsApprove> {
  static override summary = 'Put a waiting change of a brand on the live pages.';
  static override examples = [
    '<%= config.bin %> brands approve cli_…',
    '<%= config.bin %> brands approve ptr_…',
  ];
  static override args = {
    id: idArg(
      'client',
      'partner',
    )({ description: 'id of the client, or of the partner for a logo', required: true }),
  };

  async run() {
    const waiting = await findWaiting(this.api, this.args.id);
    const { id, requestedAt } = waiting;
    const consequence = `Users of live clients see this: ${describeWaiting(waiting)}.`;
    return this.runConfirmed({ id, consequence, isLive: true, confirm: 'only-live-at-terminal' }, async () =>
      this.showRecord(await this.api.brands.approve.mutate({ brandId: id, requestedAt })),
    );
  }
}
