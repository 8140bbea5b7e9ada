import { listFlags } from '../../flags/flags.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class KeyringList extends ListCommand<typeof KeyringList> {
  static override summary = 'List the keys and master keys of the service, without their values.';
  static override description =
    'A master key is shown by a part of its hash, with the number of values that it seals. One that seals no value can be removed from SVC_MASTER_KEY.';
  static override examples = ['<%= config.bin %> keyring list'];

  static override flags = listFlags;

  async run() {
    return this.showList({
      page: () => this.api.keyring.list.query(),
      fields: async () =>
        Object.keys((await import('../../../contracts/admin/keyring.ts')).ServiceKeyView.shape),
      columns: ['id', 'use', 'state', 'createdAt', 'activeAt', 'retirableAt', 'masterKey', 'values'],
    });
  }
}
