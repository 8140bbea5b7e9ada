import * as Args from '@oclif/core/args';
import { remaindersOf } from '../../../contracts/retention.ts';
import { AdminCommand } from '../../program/base-command.ts';
import { findPartnerId } from '../../show/partner-by-name.ts';

const rare: ReadonlySet<string> = new Set(['brandRequest', 'closedAt']);

export default class PartnersShow extends AdminCommand<typeof PartnersShow> {
  static override summary = 'Show a partner by its id, name, host or e-mail address.';
  static override description =
    'A part of the name is enough. If several partners match, they are listed, and none is shown.';
  static override examples = [
    '<%= config.bin %> partners show ptr_…',
    '<%= config.bin %> partners show "acme"',
  ];
  static override args = {
    partner: Args.string({ description: 'id or name of the partner', required: true }),
  };

  async run() {
    const partnerId = await findPartnerId(this.api, this.args.partner);
    const partner = await this.api.partners.show.query({ partnerId });
    // Most partners have no request and are not closed.
    const isShown = (field: string) => partner[field as keyof typeof partner] !== null || !rare.has(field);
    this.showRecord(partner, (Object.keys(partner) as (keyof typeof partner)[]).filter(isShown));
    const { closedAt } = partner;
    if (closedAt === null) return partner;
    return { ...partner, remainders: this.showTable(remaindersOf(closedAt), ['what', 'until', 'how']) };
  }
}
