import { Args, Flags } from '@oclif/core';
import { AdminCommand } from '../../base-command.ts';
import { outFile } from '../../flags.ts';

export default class OperatorsCreate extends AdminCommand<typeof OperatorsCreate> {
  static override summary = 'Create an operator. The token is shown once.';
  static override examples = ['<%= config.bin %> operators create "Kim Park" --role support'];
  static override args = {
    name: Args.string({ description: 'name of the person or program', required: true }),
  };
  static override flags = {
    role: Flags.option({ options: ['support', 'ops', 'owner'] as const })({
      description: 'what it may do',
      required: true,
    }),
    'out-file': outFile,
  };

  async run() {
    const api = await this.api();
    return this.withSecret('token', () =>
      api.operators.create.mutate({ name: this.args.name, role: this.flags.role }),
    );
  }
}
