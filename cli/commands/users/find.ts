import * as Flags from '@oclif/core/flags';
import { usageError } from '../../errors/failure.ts';
import { pageFlags, readReason } from '../../flags/flags.ts';
import { idFlag, userArg } from '../../flags/ids.ts';
import { ListCommand } from '../../list/list-command.ts';

export default class UsersFind extends ListCommand<typeof UsersFind> {
  static override summary =
    'Find a user by sub, session, enrollment or user id, or by the customer of a shop.';
  static override description =
    'One row for each enrollment, newest first. The audit log keeps who searched.';
  static override examples = [
    '<%= config.bin %> users find SUB',
    '<%= config.bin %> users find ses_…',
    '<%= config.bin %> users find --client cli_… --shop shop.example --customer 10042',
  ];
  static override args = {
    user: userArg({ description: 'sub (user_id), or id of a session, an enrollment or the user' }),
  };
  static override flags = {
    client: idFlag('client')({ description: 'client of the storefront', dependsOn: ['shop', 'customer'] }),
    shop: Flags.string({ description: 'host name of the shop', dependsOn: ['client', 'customer'] }),
    customer: Flags.string({ description: 'customer_id that the shop sent', dependsOn: ['client', 'shop'] }),
    reason: readReason,
    ...pageFlags,
  };

  async run() {
    const { client, shop, customer: customerId } = this.flags;
    const { user } = this.args;
    // The parser requires all three of these flags, or none.
    const isCustomer = client !== undefined && shop !== undefined && customerId !== undefined;
    const isNamed = user !== undefined;
    // Equal means both or none, and exactly one is needed.
    if (isNamed === isCustomer) throw usageError('Name a person, or give --client, --shop and --customer');
    const wanted = isCustomer ? { customer: { clientId: client, shop, customerId } } : { of: user };
    return this.showList({
      page: (page) =>
        this.readPersonalData((auditReason) =>
          this.api.users.find.query({ ...wanted, ...page, ...auditReason }),
        ),
      fields: async () => Object.keys((await import('../../../contracts/admin/users.ts')).FoundUser.shape),
      columns: ['id', 'userId', 'mode', 'status', 'partnerId', 'partnerName', 'clientId', 'sub', 'createdAt'],
      dropIfNarrow: ['partnerId'],
    });
  }
}
