import { AdminCommand } from '../../program/base-command.ts';
import { renderBashCompletion } from '../../program/bash-completion.ts';

export default class AutocompleteZsh extends AdminCommand<typeof AutocompleteZsh> {
  static override summary = 'Print a completion script for zsh.';
  static override examples = ['source <(<%= config.bin %> autocomplete zsh)'];

  async run() {
    const { bin, commands } = this.config;
    const script = renderBashCompletion(
      bin,
      commands.filter(({ hidden }) => !hidden),
      'zsh',
    );
    this.log(script.trimEnd());
    return { shell: 'zsh', script };
  }
}
