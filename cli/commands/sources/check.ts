import * as Args from '@oclif/core/args';
import { exits } from '../../errors/failure.ts';
import { AdminCommand } from '../../program/base-command.ts';

export default class SourcesCheck extends AdminCommand<typeof SourcesCheck> {
  static override summary = 'Check a verification source, and show when its certificates expire.';
  static override examples = ['<%= config.bin %> sources check age-app'];
  static override args = {
    name: Args.string({ required: true, description: 'as in `sources list`' }),
  };

  async run() {
    const source = await this.api.sources.check.query({ name: this.args.name });
    const expiring = source.certificates.filter((each) => each.expiring);
    if (source.fault !== null || expiring.length > 0) process.exitCode = exits.failure;
    this.log(`${source.fault === null ? 'ok  ' : 'FAIL'}  ${source.name}: ${source.fault ?? 'can work'}`);
    for (const { use, subject, notAfter, expiring: soon } of source.certificates) {
      this.log(`${soon ? 'FAIL' : 'ok  '}  ${use} ${subject}: valid until ${notAfter}`);
    }
    return source;
  }
}
