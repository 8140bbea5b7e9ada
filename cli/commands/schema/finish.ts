import { CarefulCommand } from '../../careful/careful-command.ts';

export default class SchemaFinish extends CarefulCommand<typeof SchemaFinish> {
  static override summary = 'Finish an upgrade. Older builds can no longer use the database.';
  static override description =
    'Refused while a process of an older build runs. Before it, the previous build can be started again. May be interrupted and repeated.';
  static override examples = [
    '<%= config.bin %> schema finish --dry-run',
    '<%= config.bin %> schema finish --yes',
  ];

  async run() {
    const { version, known } = await this.api.schema.show.query();
    const consequence =
      version < known
        ? `The database goes from schema version ${version} to ${known}. Builds that know only ${version} cannot be started again.`
        : `The database has schema version ${version} already; nothing changes.`;
    return this.runConfirmed(
      { id: String(known), consequence, isLive: true, affected: 'the whole service' },
      () => this.finish(),
    );
  }

  /** Calls the server until no document of the old form is left. Each call migrates only some of them. */
  private async finish() {
    for (;;) {
      const finished = await this.api.schema.finish.mutate();
      if (finished.left === 0)
        return this.showRecord(finished, ['version', 'known', 'oldestBuild', 'forms', 'bothUntil']);
      this.writeNotice(`${finished.left} documents left…`);
    }
  }
}
