import { mode, outFile } from '../../flags/flags.ts';
import { idFlag } from '../../flags/ids.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class KeysCreate extends AdminCommand<typeof KeysCreate> {
  static override summary = 'Create an API key. The key itself is shown once.';
  static override examples = ['<%= config.bin %> keys create --partner ptr_… --mode test'];
  static override flags = {
    partner: idFlag('partner')({ description: 'id of the partner', required: true }),
    mode,
    'out-file': outFile,
  };

  async run() {
    const { partner, mode: chosen } = this.flags;
    return this.showWithSecret('apiKey', () =>
      this.api.keys.create.mutate({ partnerId: partner, mode: chosen }),
    );
  }
}
