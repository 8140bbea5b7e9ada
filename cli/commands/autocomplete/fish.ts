import { AdminCommand } from '../../program/base-command.ts';
import { renderFishCompletion } from '../../program/fish-completion.ts';
import { topics } from '../../program/topics.ts';
import { topics as topicsOfSvc } from '../../svc/topics.ts';

export default class AutocompleteFish extends AdminCommand<typeof AutocompleteFish> {
  static override summary = 'Print a completion script for fish.';
  static override examples = [
    '<%= config.bin %> autocomplete fish > ~/.config/fish/completions/svcadmin.fish',
  ];

  async run() {
    const { bin, commands } = this.config;
    const visible = commands.filter(({ hidden }) => !hidden);
    const script = renderFishCompletion(bin, visible, this.program === 'svc' ? topicsOfSvc : topics);
    this.log(script.trimEnd());
    return { shell: 'fish', script };
  }
}
