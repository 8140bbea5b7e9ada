import { CarefulCommand } from '../../careful/careful-command.ts';
import { idArg } from '../../flags/ids.ts';

export default class OperatorsRevoke extends CarefulCommand<typeof OperatorsRevoke> {
  static override summary = 'Revoke the token of an operator permanently.';
  static override examples = ['<%= config.bin %> operators revoke opr_…'];
  static override args = {
    operator: idArg('operator')({ description: 'id of the operator', required: true }),
  };

  async run() {
    const id = this.args.operator;
    const consequence = `The token of ${id} ends at once and for good.`;
    // Operators use only the admin API, so users and money are not affected.
    return this.runConfirmed({ id, consequence, isLive: false }, async () =>
      this.showRecord(await this.api.operators.revoke.mutate({ operatorId: id })),
    );
  }
}
