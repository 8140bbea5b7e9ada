import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { duration, outFile } from '../../flags/flags.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class OperatorsCreate extends AdminCommand<typeof OperatorsCreate> {
  static override summary = 'Create an operator. The token is shown once.';
  static override examples = ['<%= config.bin %> operators create "Kim Park" --role support --expires 90d'];
  static override args = {
    name: Args.string({ description: 'name of the person or program', required: true }),
  };
  static override flags = {
    role: Flags.option({ options: ['support', 'ops', 'owner'] as const })({
      description: 'role of the operator',
      required: true,
    }),
    expires: duration({
      description: 'how long the token is valid; without it, until it is revoked',
      helpValue: '90d',
    }),
    'out-file': outFile,
  };

  async run() {
    return this.showWithSecret('token', () =>
      this.api.operators.create.mutate({
        name: this.args.name,
        role: this.flags.role,
        expiresIn: this.flags.expires,
      }),
    );
  }
}
