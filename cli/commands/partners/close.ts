import { remaindersOf } from '../../../contracts/retention.ts';
import { CarefulCommand } from '../../careful/careful-command.ts';
import { describeServed } from '../../careful/served.ts';
import { requiredReason } from '../../flags/flags.ts';
import { idArg } from '../../flags/ids.ts';
import { formatValue, localTime } from '../../output/format.ts';

export default class PartnersClose extends CarefulCommand<typeof PartnersClose> {
  static override summary = 'Close a partner that leaves: it is suspended for good, and its records expire.';
  static override description =
    'Says what is left on its wallets, and until when its records are kept. partners activate by support or an owner opens it again; what was deleted by then stays deleted.';
  static override examples = [
    '<%= config.bin %> partners close ptr_… --reason "end of contract" --dry-run',
    '<%= config.bin %> partners close ptr_… --reason "end of contract"',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = {
    reason: requiredReason,
  };

  async run() {
    const { id, name } = await this.api.partners.show.query({ partnerId: this.args.partner });
    const [live, test] = await Promise.all(
      (['live', 'test'] as const).map((mode) => this.api.wallets.show.query({ partnerId: id, mode })),
    );
    const money = (wallet: typeof live) => formatValue('balance', wallet?.balance ?? 0);
    const [first] = remaindersOf(new Date().toISOString());
    const consequence = `${name} (${id}) gets no codes, tokens and events any more, in test and live mode: ${await describeServed(this.api, id)} stop. ${money(live)} are left on its live wallet, ${money(test)} on its test wallet. The last ${first?.what} are deleted at ${localTime(first?.until ?? '')}.`;
    return this.runConfirmed({ id, consequence, isLive: true }, async () => {
      const { status, closedAt } = await this.api.partners.close.mutate({
        partnerId: id,
        reason: this.flags.reason,
      });
      const balances = { liveBalance: live?.balance ?? 0, testBalance: test?.balance ?? 0 };
      const closed = this.showRecord({ id, name, status, closedAt, ...balances });
      return {
        ...closed,
        remainders: this.showTable(remaindersOf(closedAt ?? ''), ['what', 'until', 'how']),
      };
    });
  }
}
