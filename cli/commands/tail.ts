import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminApi } from '../connection/client.ts';
import { toFailure } from '../errors/failure.ts';
import { requestFilters } from '../flags/filters.ts';
import { moment, mostPerPage } from '../flags/flags.ts';
import { requireRecords } from '../list/known-records.ts';
import { formatValue, printable, printableJson } from '../output/format.ts';
import { AdminCommand } from '../program/base-command.ts';

type Request = Awaited<ReturnType<AdminApi['requests']['list']['query']>>['rows'][number];

/** The time between two polls of the server, in milliseconds. */
const pollEveryMs = 1_000;
/** How far each poll reads back, in milliseconds. A request is listed late, because it is stored up to a second after its end. */
const overlapMs = 30_000;
/** The most pages that one poll reads. More requests cannot be printed in a second. */
const mostPagesPerPoll = 4;

export default class Tail extends AdminCommand<typeof Tail> {
  static override summary = 'Follow requests of partners and their users as they happen, until interrupted.';
  static override description =
    'Shows the same requests as `requests list`, oldest first. With --json, one value a line.';
  static override examples = [
    '<%= config.bin %> tail --partner ptr_…',
    '<%= config.bin %> tail --status 4xx --path /api/oauth',
  ];
  static override flags = {
    ...requestFilters,
    since: moment({ description: 'start at this time' }),
  };

  /** When each request was printed, by its id. */
  readonly #printedAt = new Map<string, number>();

  async run(): Promise<void> {
    const interrupted = new AbortController();
    process.once('SIGINT', () => interrupted.abort());
    // The time is taken from the server's clock, because the clock of this machine may be wrong.
    const { time } = await this.api.status.query();
    await requireRecords(() => this.api, this.flags);
    const begin = this.flags.since ?? time;
    const serverAheadMs = Date.parse(time) - Date.now();
    this.writeNotice('Following requests; Ctrl-C ends.');
    let since = begin;
    while (!interrupted.signal.aborted) {
      const now = Date.now() + serverAheadMs;
      const requests = await this.#readSince(since);
      // After a poll that failed, the next one reads the same period.
      if (requests !== undefined) {
        this.#printNew(requests, now);
        // The next poll reads a part of this period again, because some requests are listed late.
        const overlapBegin = new Date(now - overlapMs).toISOString();
        since = overlapBegin > begin ? overlapBegin : begin;
      }
      await sleep(pollEveryMs, undefined, { signal: interrupted.signal }).catch(() => undefined);
    }
  }

  /** Prints the requests that were not printed before, and forgets those that are too old to be read again. */
  #printNew(requests: readonly Request[], now: number): void {
    for (const request of requests) {
      if (this.#printedAt.has(request.id)) continue;
      this.#printedAt.set(request.id, now);
      this.#printRequest(request);
    }
    // The next poll reads back only one overlap, so ids that are twice as old do not come again.
    for (const [id, printedAt] of this.#printedAt)
      if (now - printedAt > 2 * overlapMs) this.#printedAt.delete(id);
  }

  /** Reads requests, the oldest first. If the server cannot be reached, writes a note and returns undefined. */
  async #readSince(since: string): Promise<Request[] | undefined> {
    const { partner, client, status, path, error } = this.flags;
    const filter = { partnerId: partner, clientId: client, status, path, error };
    const found: Request[] = [];
    try {
      for (let page = 0; page < mostPagesPerPoll; page += 1) {
        const after = found.at(-1)?.id;
        const { rows } = await this.api.requests.list.query({ ...filter, since, limit: mostPerPage, after });
        found.push(...rows);
        if (rows.length < mostPerPage) return found.toReversed();
      }
      this.writeNotice('More requests than are shown: narrow it, for instance by --partner.');
      return found.toReversed();
    } catch (thrown) {
      const { code, message } = toFailure(thrown, this.connectionSource);
      if (code !== 'unreachable' && code !== 'service_unavailable') throw thrown;
      this.writeNotice(`${message}; asking again`);
      return undefined;
    }
  }

  /** Prints a request on one line, or as one line of JSON for programs. */
  #printRequest(request: Request): void {
    const { at, status, method, route, durationMs, error, partnerId, id } = request;
    const fields = { at, status, method, route, duration: `${durationMs} ms`, error, partnerId, id };
    const cells = Object.entries(fields).map(([name, value]) => formatValue(name, value));
    process.stdout.write(`${this.jsonEnabled() ? printableJson(request) : printable(cells.join('  '))}\n`);
  }
}
