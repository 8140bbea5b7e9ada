import { archiveFlags, type Reads, requireNewFile, writeArchive } from '../../archive/export.ts';
import type { AdminApi } from '../../connection/client.ts';
import { userArg } from '../../flags/ids.ts';
import { readAll } from '../../list/pages.ts';
import { AdminCommand } from '../../program/base-command.ts';
import type { ReadReason } from '../../show/related.ts';

type User = Awaited<ReturnType<AdminApi['users']['show']['query']>>;

/** Returns what `read` returns for each of the values, one after the other. */
async function each<Value, Result>(values: readonly Value[], read: (value: Value) => Promise<Result[]>) {
  const found: Result[] = [];
  for (const value of values) found.push(...(await read(value)));
  return found;
}

/** Everything that is kept about a user, at all partners. */
function readsOf(api: AdminApi, user: User, reason: ReadReason): Reads {
  const subjects = [...new Set(user.enrollments.map(({ sub }) => sub))];
  const ids = user.enrollments.map(({ id }) => id);
  return {
    user: async () => user,
    enrollments: () =>
      each(ids, async (enrollmentId) => [await api.enrollments.show.query({ enrollmentId, ...reason })]),
    sessions: async () => {
      const found = await each(ids, (enrollmentId) =>
        readAll((page) => api.sessions.list.query({ enrollmentId, ...page })),
      );
      // A session belongs to one enrollment, but is listed for each enrollment of the user with its client.
      const sessionIds = [...new Set(found.map(({ id }) => id))];
      return each(sessionIds, async (sessionId) => [await api.sessions.show.query({ sessionId })]);
    },
    events: async () => {
      const found = await each(subjects, (sub) => readAll((page) => api.events.list.query({ sub, ...page })));
      return each(found, async ({ id }) => [await api.events.show.query({ eventId: id, ...reason })]);
    },
    'audit-log': () => readAll((page) => api.auditLog.list.query({ user: user.id, ...page })),
  };
}

export default class UsersExport extends AdminCommand<typeof UsersExport> {
  static override summary = 'Write everything that is kept about a user to an archive of JSON files.';
  static override description =
    'For the answer to a person who asks for their data, also before an erasure. The archive is a .tar.gz with the user, the enrollments, the sessions, the events with claims, and who read or changed them. The audit log keeps who made it.';
  static override examples = [
    '<%= config.bin %> users export SUB --out-file person.tar.gz --reason "request of 12 July"',
  ];
  static override args = {
    user: userArg({ description: 'sub, or id of an enrollment or of the user', required: true }),
  };
  static override flags = archiveFlags;

  async run() {
    const path = this.flags['out-file'];
    requireNewFile(path);
    const { user: named } = this.args;
    const { id, records } = await this.readPersonalData(async (reason) => {
      const user = await this.api.users.show.query({ user: named, ...reason });
      const counts = await writeArchive(path, readsOf(this.api, user, reason), (name, count) =>
        this.writeNotice(`${name}: ${count}`),
      );
      return { id: user.id, records: counts };
    });
    return this.showRecord({ id, outFile: path, records });
  }
}
