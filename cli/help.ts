import { CommandHelp, Help } from '@oclif/core';

/** Help that begins with an example: most readers look for no more. */
class ExampleFirst extends CommandHelp {
  protected override sections() {
    const sections = super.sections();
    const isExample = ({ header }: { header: string }): boolean => header === 'EXAMPLES';
    return [...sections.filter(isExample), ...sections.filter((section) => !isExample(section))];
  }
}

export default class SvcadminHelp extends Help {
  protected override CommandHelpClass = ExampleFirst;
}
