import { AdminCommand } from '../../program/base-command.ts';
import { renderBashCompletion } from '../../program/bash-completion.ts';

export default class AutocompleteBash extends AdminCommand<typeof AutocompleteBash> {
  static override summary = 'Print a completion script for bash.';
  static override examples = ['source <(<%= config.bin %> autocomplete bash)'];

  async run() {
    const { bin, commands } = this.config;
    const script = renderBashCompletion(
      bin,
      commands.filter(({ hidden }) => !hidden),
      'bash',
    );
    this.log(script.trimEnd());
    return { shell: 'bash', script };
  }
}
