import { inFile } from './mutation.ts';

/** Mutations of events, deliveries, retries, signatures and destinations. */
export const webhooks = [
  ...inFile(
    'server/webhooks/delivery/retry-schedule.ts',
    ['webhooks/delivery/retry-schedule'],
    [
      ["if (result.error === undefined) return { status: 'delivered' };", ''],
      ['attempt >= limit || delay === undefined', 'delay === undefined'],
      ['delays[attempt - 1]', 'delays[attempt]'],
      ['attempt: attempt + 1', 'attempt: attempt'],
    ],
  ),
  ...inFile(
    'server/webhooks/egress/signature.ts',
    ['webhooks/egress/signature'],
    [
      ["sha256=${createHmac('sha256', secret)", "sha256=${createHmac('sha1', secret)"],
      ['timestamp: number): string {', 'timestamp: number): string {\n  timestamp = 0;'],
      ["'webhook-id': signed.eventId", "'webhook-id': signed.body"],
    ],
  ),
  ...inFile(
    'server/webhooks/egress/destination.ts',
    ['webhooks/egress/connector'],
    [
      ["parsed?.range() !== 'unicast'", '!parsed'],
      ['return parsed.match(globalUnicast);', 'return true;'],
      ["address.includes('%') || ", ''],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/delivery-store.ts',
    ['webhooks/delivery/delivery-store', 'webhooks/recovery'],
    [
      ['updateMany({ _id: { $in: ids }, $expr: isHeld }, [', 'updateMany({ _id: { $in: ids } }, ['],
      [
        "{ _id: { $in: [...ids] }, status: 'pending', nextAttemptAt",
        '{ _id: { $in: [...ids] }, nextAttemptAt',
      ],
      [
        "{ status: 'in_flight' as const, 'lease.until': { $lte: now } }",
        "{ status: 'in_flight' as const, 'lease.until': { $gte: now } }",
      ],
      ["trigger: 'recovery',", "trigger: 'schedule',"],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/events.ts',
    ['webhooks/delivery/delivery-store', 'webhooks/delivery/delivery', 'contract/section-6'],
    [
      [
        "deriveId(idKey, 'event', [type, ...cause])",
        "deriveId(idKey, 'event', [type, String(at.getTime()), ...cause])",
      ],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/erasure-store.ts',
    ['isolation/two-of-everything'],
    [['const ofUser = { sub: { $in: [...subs] } };', 'const ofUser = { sub: { $exists: true } };']],
  ),
  ...inFile(
    'server/webhooks/delivery/attempt.ts',
    ['webhooks/delivery/delivery', 'webhooks/admin', 'process/webhook-endpoint'],
    [
      ["if (endpoint.state === 'off') return skip(leased, endpoint.reason);", ''],
      ['return skip(leased, endpoint.reason);', "return skip(leased, 'no_url');"],
      ['clock.now() - parties.readAt < partiesLastMs', 'true'],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/backlog.ts',
    ['webhooks/delivery/backlog'],
    [
      ['isAll ? [...found, ...ids] :', 'isAll ? found :'],
      ["known: isAll || known === 'any' ? known : 'longest due'", 'known'],
    ],
  ),
  ...inFile(
    'server/webhooks/egress/signature.ts',
    ['webhooks/delivery/delivery'],
    [["'X-SVC-Attempt': String(attempt)", "'X-SVC-Attempt': '1'"]],
  ),
  ...inFile(
    'server/webhooks/bulk/bulk-steps.ts',
    ['webhooks/bulk/bulk'],
    [
      [
        'const isMade = deliveries.some(({ bulkId }) => bulkId === job._id);',
        'const isMade = deliveries.length > 99;',
      ],
      ['if (isMade || !isUncounted) eventCount += 1;', 'eventCount += 1;'],
      ['else if (blockers.length === 0) plans.push', 'else plans.push'],
      ['return unsent >= mostUnsent;', 'return false;'],
    ],
  ),
  ...inFile(
    'server/webhooks/operators/delivery-query-store.ts',
    ['webhooks/bulk/bulk-steps'],
    [
      [
        "{ _id: { $in: [...ids] }, status: 'pending' },\n        cancelUpdate(at),",
        "{ status: 'pending' },\n        cancelUpdate(at),",
      ],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/event-store.ts',
    ['webhooks/bulk/bulk-steps'],
    [['{ ...page, oldestFirst: true }', 'page']],
  ),
  ...inFile('server/webhooks/bulk/runner.ts', ['webhooks/bulk/bulk'], [['if (!next) return false;', '']]),
  ...inFile(
    'server/webhooks/bulk/bulk-job.ts',
    ['webhooks/bulk/bulk'],
    [['isBehind && !part.finished', 'isBehind || !part.finished']],
  ),
  ...inFile(
    'server/webhooks/egress/connections.ts',
    ['webhooks/egress/connections', 'webhooks/egress/kept-connections'],
    [
      ['socket.unref();', ''],
      ['connection.socket.ref();', ''],
      ['socket.setTimeout(ms);', ''],
      ['others.length >= mostKept', 'false'],
      ['data: () => socket.destroy(),', 'data: () => undefined,'],
    ],
  ),
  ...inFile(
    'server/webhooks/egress/request.ts',
    ['webhooks/egress/kept-connections', 'webhooks/egress/post'],
    [
      ['!reader.hasBegun && ', ''],
      ['error !== timedOut && ', ''],
      ['performance.now() - sentAt < tenth', 'true'],
      ['bodyTimer ??= setTimeout(done, tenth)', 'void bodyTimer'],
      ['if (notInHeader.test(value))', 'if (false)'],
    ],
  ),
  ...inFile(
    'server/webhooks/egress/answer-reader.ts',
    ['webhooks/egress/answer-reader'],
    [
      ['if (rest.length > 0) this.#isExact = false;', ''],
      ['this.#headers.clear();', ''],
      ["coding !== '' || !/^0*$/.test(length)", "coding !== ''"],
      ['this.#bodyLength >= longestBody', 'false'],
      ['this.#line.length > longestLine', 'false'],
      ['this.#beforeBody > mostBeforeBody', 'false'],
    ],
  ),
  ...inFile(
    'server/webhooks/operators/views.ts',
    ['webhooks/operators/views'],
    [['attempt.at.getTime() - attempt.dueAt.getTime()', 'attempt.at.getTime() + attempt.dueAt.getTime()']],
  ),
  ...inFile(
    'server/webhooks/delivery/attempt.ts',
    ['webhooks/lag'],
    [
      [
        'lag: Math.max(0, at - dueTimeOf(leased).getTime()) / 1000',
        'lag: Math.max(0, at - dueTimeOf(leased).getTime())',
      ],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/attempt.ts',
    ['webhooks/delivery/pause'],
    [
      ['if (pausedUntil && pausedUntil > now())', 'if (pausedUntil === null)'],
      ['pausedUntil && pausedUntil > now()', 'pausedUntil'],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/due.ts',
    ['webhooks/delivery/delivery', 'webhooks/recovery', 'process/webhook-endpoint'],
    [
      ['if (dueAt) await retryAt(dueAt);', ''],
      ['if (worker) await sendDue();', ''],
      ['seconds.map(dueJobs.repair)', 'seconds.map(dueJobs.at)'],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/due-job.ts',
    ['webhooks/delivery/due-job'],
    [
      ['waiting > (waited * 2) / 3 && (await othersSend())', 'await othersSend()'],
      ['if (waited >= muchWaiting) await', 'await'],
      [' && (await othersSend())', ''],
    ],
  ),
];
