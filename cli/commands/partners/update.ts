import * as Flags from '@oclif/core/flags';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeChanges } from '../../careful/previews.ts';
import { usageError } from '../../errors/failure.ts';
import { withoutUndefined } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';

/** Returns a text for the server. The flag value `none` removes it, which the server expects as null. */
const textOrNone = (text: string | undefined): string | null | undefined => (text === 'none' ? null : text);

export default class PartnersUpdate extends CarefulCommand<typeof PartnersUpdate> {
  static override summary = 'Change the name, the contacts, the VAT id or the address of a partner.';
  static override description =
    'What is not given stays. Users read the name on the hosted pages. A change for a partner that is not active needs no confirmation.';
  static override examples = [
    '<%= config.bin %> partners update ptr_… --name "Acme Europe Ltd"',
    '<%= config.bin %> partners update ptr_… --contact dev@acme.example --contact pay@acme.example',
    '<%= config.bin %> partners update ptr_… --vat-id none',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    name: Flags.string({ description: 'name of the company' }),
    contact: Flags.string({
      description: 'e-mail address; repeat it for several, they replace those before',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'no-contact': Flags.boolean({ description: 'no address', exclusive: ['contact'] }),
    'vat-id': Flags.string({
      description: 'VAT id with its country; "none" for none',
      helpValue: 'DE123456789',
    }),
    address: Flags.string({ description: 'postal address in one line; "none" for none' }),
  };

  async run() {
    const { name, contact, 'vat-id': vatId, address } = this.flags;
    const wanted = withoutUndefined({
      name,
      contacts: this.flags['no-contact'] ? [] : contact,
      vatId: textOrNone(vatId),
      address: textOrNone(address),
    });
    if (Object.keys(wanted).length === 0) throw usageError('Nothing to change was given');
    const partner = await this.api.partners.show.query({ partnerId: this.args.partner });
    const { id, status } = partner;
    const consequence = `The partner ${partner.name} (${id}) changes: ${describeChanges<object>(partner, wanted)}.`;
    return this.runConfirmed(
      { id, consequence, isLive: status === 'active', confirm: 'only-live-at-terminal' },
      async () => this.showRecord(await this.api.partners.update.mutate({ partnerId: id, ...wanted })),
    );
  }
}
