import { AdminCommand } from '../../base-command.ts';

export default class KeyringList extends AdminCommand<typeof KeyringList> {
  static override summary = 'List the keys and master keys of the service, without their values.';
  static override description =
    'A master key is shown by a part of its hash, with the number of values that it seals. One that seals no value can be removed from SVC_MASTER_KEY.';
  static override examples = ['<%= config.bin %> keyring list'];

  async run() {
    const keys = await (await this.api()).keyring.list.query();
    return this.many(keys, [
      'id',
      'use',
      'state',
      'createdAt',
      'activeAt',
      'retirableAt',
      'masterKey',
      'values',
    ]);
  }
}
