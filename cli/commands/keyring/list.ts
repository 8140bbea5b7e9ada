import { AdminCommand } from '../../base-command.ts';

export default class KeyringList extends AdminCommand<typeof KeyringList> {
  static override summary = 'List the keys of the service and its master keys, without any key itself.';
  static override description =
    'A master key is shown by a part of its hash, with the number of values that are sealed under it. One that seals no value can be taken out of SVC_MASTER_KEY.';
  static override examples = ['<%= config.bin %> keyring list'];

  async run() {
    const keys = await (await this.api()).keyring.list.query();
    return this.many(keys, ['id', 'use', 'state', 'createdAt', 'activeAt', 'masterKey', 'values']);
  }
}
