import { CommandHelp, Help } from '@oclif/core/help';

/** Help that begins with an example, which is enough for most readers. */
class ExampleFirst extends CommandHelp {
  protected override sections() {
    const sections = super.sections();
    const isExample = ({ header }: { header: string }): boolean => header === 'EXAMPLES';
    return [...sections.filter(isExample), ...sections.filter((section) => !isExample(section))];
  }
}

const firstStepsOfSvc: [command: string, purpose: string][] = [
  ['login --url URL', 'sign in by a code that you confirm in the portal'],
  ['webhooks set key_… --url URL', 'where events go; shows the signing secret'],
  ['listen --forward-to URL', 'events of your test key to a receiver on this machine'],
  ['trigger flow --person adult', 'the hosted pages of the sandbox to their end, as a named person'],
  ['deliveries list --status failed', 'what your receiver has not taken'],
  ['requests list --status 4xx', 'what was refused, and why'],
  ['sessions list --reference ID', 'a session by your own client_reference_id'],
  ['wallet', 'balance, and the days that it lasts'],
];

/** Commands for the first day and for the most frequent questions. */
const firstSteps: [command: string, purpose: string][] = [
  ['login --url URL', 'sign in to a server'],
  ['partners onboard --help', 'set a partner up in test mode'],
  ['show ID', 'whatever an id names, and every id that it leads to'],
  ['partners list --search TEXT', 'a partner by name, host or the last four of a key'],
  ['events why evt_…', 'why a partner has not got an event'],
  ['requests list --partner ptr_… --status 4xx', 'what was refused'],
  ['error TEXT', 'what an error means, and what to do'],
  ['roles', 'what you may do'],
];

export default class SvcadminHelp extends Help {
  protected override CommandHelpClass = ExampleFirst;

  override formatRoot(): string {
    const steps = this.config.bin === 'svc' ? firstStepsOfSvc : firstSteps;
    const width = Math.max(...steps.map(([command]) => command.length));
    const lines = steps.map(
      ([command, purpose]) => `$ ${this.config.bin} ${command.padEnd(width)}  ${purpose}`,
    );
    return `${super.formatRoot()}\n\n${this.section('START HERE', lines.join('\n'))}`;
  }
}
