import * as Flags from '@oclif/core/flags';
import { findWaiting } from '../../careful/brands.ts';
import { idArg } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class BrandsRefuse extends AdminCommand<typeof BrandsRefuse> {
  static override summary = 'Refuse a waiting change of a brand. The live pages stay as they are.';
  static override examples = [
    '<%= config.bin %> brands refuse cli_… --reason "The name is of another company"',
  ];
  static override args = {
    id: idArg(
      'client',
      'partner',
    )({ description: 'id of the client, or of the partner for a logo', required: true }),
  };
  static override flags = {
    reason: Flags.string({ description: 'reason, which members of the partner read', required: true }),
  };

  async run() {
    const { id: brandId, requestedAt } = await findWaiting(this.api, this.args.id);
    const { reason } = this.flags;
    return this.showRecord(await this.api.brands.refuse.mutate({ brandId, requestedAt, reason }));
  }
}
