import * as Flags from '@oclif/core/flags';
import type { PricesView } from '../../../contracts/admin/wallets.ts';
import { BillableKind } from '../../../contracts/charge.ts';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeChanges } from '../../careful/previews.ts';
import { usageError } from '../../errors/failure.ts';
import { parseTime } from '../../flags/durations.ts';
import { idArg } from '../../flags/ids.ts';
import { formatValue, localTime } from '../../output/format.ts';

/** A flag for a time in the future. Dates of money are those of UTC. */
const from = Flags.custom<string>({
  helpValue: '2026-08-01',
  async parse(text) {
    const iso = parseTime(text, Date.now(), 'UTC');
    if (iso === undefined) throw usageError(`${text} is not a date such as 2026-08-01`);
    return iso;
  },
});

interface NewPrice {
  partnerId: string;
  kind: BillableKind;
  cents: number;
  from: string | undefined;
}

/** Says what a price changes for charges: against the price that applied at its begin, and which planned prices end. */
function describePrice(prices: PricesView, { partnerId, kind, cents, from: begin }: NewPrice): string {
  const planned = prices.planned.filter((price) => price.kind === kind);
  const timeOf = (iso: string) => new Date(iso).getTime();
  const beginsBy = begin === undefined ? [] : planned.filter(({ from }) => timeOf(from) <= timeOf(begin));
  const before = beginsBy.at(-1);
  const next = begin === undefined ? undefined : planned.at(beginsBy.length);
  const replaced = before && begin !== undefined && timeOf(before.from) === timeOf(begin) ? [before] : [];
  const ended = begin === undefined ? planned : replaced;
  const since = begin === undefined ? 'now' : localTime(begin);
  const period = `from ${since} ${next ? `until ${localTime(next.from)}` : 'on'}`;
  const change = describeChanges({ [kind]: before?.cents ?? prices[kind] }, { [kind]: cents });
  const endedOnes = ended.map((price) => `${formatValue(kind, price.cents)} from ${localTime(price.from)}`);
  const removal = ended.length > 0 ? ` The planned price is removed: ${endedOnes.join(', ')}.` : '';
  return `Every charge of ${partnerId} ${period}, test and live: ${change} USD.${removal}`;
}

export default class PricesSet extends CarefulCommand<typeof PricesSet> {
  static override summary = 'Set the price of a billable event for a partner, now or from a date on.';
  static override description =
    'A price with --from is planned, and `prices show` lists it. A price without --from begins now, and removes the planned ones of its kind.';
  static override examples = [
    '<%= config.bin %> prices set ptr_… --kind token --cents 40',
    '<%= config.bin %> prices set ptr_… --kind token --cents 35 --from 2026-08-01',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    kind: Flags.option({ options: BillableKind.options })({
      description: 'kind of billable event',
      required: true,
    }),
    cents: Flags.integer({ description: 'whole cents', required: true, min: 0 }),
    from: from({ description: 'when it begins, in UTC; without it, now' }),
  };

  async run() {
    const { kind, cents, from: begin } = this.flags;
    const partnerId = this.args.partner;
    const prices = await this.api.prices.show.query({ partnerId });
    const price = { partnerId, kind, cents, from: begin };
    const consequence = describePrice(prices, price);
    return this.runConfirmed(
      { id: partnerId, consequence, isLive: true, confirm: 'only-at-terminal' },
      async () => this.showRecord(await this.api.prices.set.mutate(price)),
    );
  }
}
