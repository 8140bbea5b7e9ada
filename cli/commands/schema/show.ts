import { AdminCommand } from '../../program/base-command.ts';

export default class SchemaShow extends AdminCommand<typeof SchemaShow> {
  static override summary = 'Show the schema version of the database, and the progress of an upgrade.';
  static override examples = ['<%= config.bin %> schema show'];

  async run() {
    const schema = await this.api.schema.show.query();
    this.showRecord(schema, ['version', 'known', 'oldestBuild', 'forms', 'bothUntil']);
    if (schema.migrations.length > 0) {
      this.log();
      this.showTable(schema.migrations, ['name', 'to', 'changed', 'done']);
    }
    return schema;
  }
}
