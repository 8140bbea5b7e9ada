import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listedAfterMs } from '../../contracts/account.ts';
import { defaultLeadSeconds } from '../../contracts/admin/keyring.ts';
import { storedAnswerLifetimeSeconds } from '../../contracts/checkbox.ts';
import { accessTokenLifetimeSeconds } from '../../contracts/oauth.ts';
import { longestHoldDays } from '../../contracts/retention.ts';
import { timestampSkewSeconds } from '../../contracts/storefront.ts';
import { codeLifetimeSeconds, sessionLifetimeSeconds } from '../../contracts/verification.ts';
import { attemptTimeoutMs } from '../../contracts/webhooks.ts';
import { discoveryLifetimeSeconds } from '../../server/api/oauth/metadata.ts';
import { concurrentUseWindowMs } from '../../server/api/oauth/token.ts';
import { grantRetentionMs } from '../../server/billing/ledger/page-builder.ts';
import { revocationRetentionMs } from '../../server/billing/revocation-store.ts';
import { pollInterval, requestLifetimeMs } from '../../server/console/portal/device/device-logins.ts';
import { freshForMs, sessionLifetimeMs } from '../../server/console/portal/member-sessions.ts';
import { checkEveryMs } from '../../server/identity-wallet/trust/trust.ts';
import { requestRetentionMs } from '../../server/operations/requests/request-store.ts';
import { daysKept, hourRetentionMs } from '../../server/operations/service-status/service-hour-store.ts';
import { warningRetentionMs } from '../../server/operations/warnings/warning.ts';
import { defaultLowDays, expiringWithinMs } from '../../server/operations/warnings/warning-conditions.ts';
import { markDays } from '../../server/pages/flow/passkey-forms.ts';
import { signInLifetimeMs } from '../../server/pages/your-data/sign-in.ts';
import { lifetimeMs as clientCacheMs } from '../../server/partners/directory/change-watch.ts';
import { longestPauseMs } from '../../server/partners/keys/admin-endpoints.ts';
import { removedRetentionMs } from '../../server/partners/members/admin.ts';
import { heldMs, invitationLifetimeMs } from '../../server/partners/members/held-invitations.ts';
import { oneTimeUserLifetimeMs } from '../../server/people/enrollments/enroll.ts';
import { longestLifetime, notYetLifetimeMs } from '../../server/people/enrollments/freshness.ts';
import { secondLookAfterMs } from '../../server/people/enrollments/snapshot-invalidation.ts';
import { releasedMs } from '../../server/people/erasure/holds.ts';
import { gracePeriodMs as forgottenWithin } from '../../server/people/users/forgetting.ts';
import { largestOffset } from '../../server/platform/clock.ts';
import { readConfig } from '../../server/platform/config/config.ts';
import { defaultPace } from '../../server/platform/config/pace.ts';
import { windowRetentionMs } from '../../server/platform/http/limits/request-limits.ts';
import { minute } from '../../server/platform/http/limits/windows.ts';
import { arrivalTimes } from '../../server/platform/http/server.ts';
import { keepFinished as keepJobs } from '../../server/platform/jobs/scheduler.ts';
import { sweepInterval } from '../../server/platform/jobs/sweeper.ts';
import { challengeLifetimeMs } from '../../server/platform/webauthn/challenges.ts';
import { handoffLifetimeMs } from '../../server/sessions/hand-off/handoff.ts';
import { requestLockMs } from '../../server/sessions/session-store.ts';
import { keepFinished, keepUnfinished } from '../../server/sessions/session-update-store.ts';
import { successSpanMs } from '../../server/sessions/sources/overview.ts';
import { bulkJobRetentionMs } from '../../server/webhooks/bulk/bulk-jobs.ts';
import { answerRetentionMs } from '../../server/webhooks/delivery/delivery.ts';
import { purgeDate } from '../../server/webhooks/delivery/events.ts';
import { keptMs } from '../../server/webhooks/egress/connections.ts';
import { answerWithinMs as publicGetMs } from '../../server/webhooks/egress/public-get.ts';
import { mentionsIn, millisecondsOf, readPage } from './durations.ts';
import { readDoc } from './markdown.ts';

const [secondAttempt = 0, thirdAttempt = 0] = readConfig({}).webhooks.retryDelays;
const [, doubledFrom] = /delay doubling from (\d+) second/.exec(readDoc('interface-0.8.0.md')) ?? [];
const firstRetry = Number(doubledFrom) * 1_000;
const eventsKept = purgeDate(new Date(0)).getTime();

/**
 * Each duration of the docs: its name as a noun, its value in the code in milliseconds, and its phrases. TIME marks the duration.
 */
const limits: [what: string, ms: number, phrases: string[]][] = [
  [
    'the lifetime of an authorization code',
    codeLifetimeSeconds * 1_000,
    [
      'exchanges once within TIME',
      'older than TIME, already used',
      '`code` \\| lives TIME, works once',
      'stays usable for its TIME',
      'authorization code \\| TIME',
      'exchange a code twice, or after TIME',
      'A code lives TIME and works once',
    ],
  ],
  [
    'the lifetime of a hosted session',
    sessionLifetimeSeconds * 1_000,
    [
      'A session lives TIME',
      'the session is older than TIME',
      'After TIME the answer is 404',
      'hosted session \\| TIME',
      'not completed within TIME',
      'not finished expires after TIME',
      'leave a page open for TIME',
      'Sessions live TIME',
      'longer than TIME: send them to /verify/start',
      'TIME later; from then on the session is not found',
      'owns the session, and for TIME',
    ],
  ],
  [
    'the lifetime of an access token',
    accessTokenLifetimeSeconds * 1_000,
    [
      'not ours, expired \\(TIME\\)',
      'access token \\| TIME',
      'It is valid for TIME, or until it is revoked',
      'Access tokens live TIME',
      'The token, valid for TIME',
      'tokens live for TIME',
      'they expire within TIME: start the processes',
    ],
  ],
  [
    'the time in which two uses of a code count as simultaneous',
    concurrentUseWindowMs,
    [
      'later than TIME after the first use',
      'more than TIME later also revokes',
      'Within TIME it does not, because two of your workers',
      'later than TIME after its use',
    ],
  ],
  [
    'the permitted clock skew of a signed request',
    timestampSkewSeconds * 1_000,
    ['permitted clock skew \\| TIME either way', 'differs by over TIME', 'the clock may be TIME off'],
  ],
  [
    'the time for which a checkbox answer is stored',
    storedAnswerLifetimeSeconds * 1_000,
    ['more than TIME ago', 'the stored answer for TIME', 'another body, or over TIME ago'],
  ],
  [
    'the time for which claims are fresh',
    longestLifetime(),
    [
      'is fresh \\(TIME\\)',
      'are fresh \\(TIME\\)',
      'SVC_CLAIM_FRESHNESS`, TIME\\)',
      'none is fresh \\(TIME\\)',
      'Claims are fresh for TIME',
    ],
  ],
  [
    'the time for which an age claim with the value false is fresh',
    notYetLifetimeMs,
    ['of an age is fresh for TIME'],
  ],
  [
    'the time limit for a webhook receiver to answer',
    attemptTimeoutMs,
    ['webhook \\| TIME to answer', 'any 2xx within TIME', 'without an answer within TIME. The connection'],
  ],
  ['how long a connection to an endpoint is kept', keptMs, ['connection is kept for TIME']],
  ['the wait before webhook attempt 2', secondAttempt, ['TIME after attempt 1 failed']],
  [
    'the wait before webhook attempt 3',
    thirdAttempt,
    ['TIME after attempt 2 failed', 'follow after 1 and TIME'],
  ],
  [
    'the wait before the first retry of a partner',
    firstRetry,
    ['again after TIME, then after', 'retry after TIME, then after', 'a 500 after TIME and then'],
  ],
  ['the wait before the second retry of a partner', 2 * firstRetry, ['then after TIME[;:]']],
  [
    'the time limit for a whole request to arrive',
    arrivalTimes.request,
    ['time to arrive \\| TIME for a request', 'whole request not within TIME'],
  ],
  [
    'the time limit for the headers of a request to arrive',
    arrivalTimes.headers,
    ['headers did not arrive within TIME'],
  ],
  [
    'the lifetime of a hand-off link',
    handoffLifetimeMs,
    ['Link and code work for TIME', 'possibilities in TIME', 'Within TIME, they persuade'],
  ],
  [
    'the time after which an exchange starts no further step',
    defaultPace.beginWithin,
    ['After TIME, or when the client has disconnected'],
  ],
  [
    'the time limit for the answer to an exchange',
    defaultPace.answerWithin,
    ['answers 503 after at most TIME'],
  ],
  [
    'the permitted error of the clock of a server',
    largestOffset,
    ['clock differs by more than TIME', 'clock is more than TIME off'],
  ],
  [
    'the time span of the success rate of a source',
    successSpanMs,
    ['their success in the last TIME', 'each source in the last TIME'],
  ],
  [
    'the time for which a client is cached',
    clientCacheMs,
    ['old secret ends within TIME', 'becomes invalid within TIME'],
  ],
  [
    'the time for which metadata and keys may be cached',
    discoveryLifetimeSeconds * 1_000,
    ['may be kept for TIME', 'may keep the published keys for TIME'],
  ],
  [
    'the wait before a new signing key signs',
    defaultLeadSeconds.signing * 1_000,
    ['The lead is TIME', 'signs TIME later'],
  ],
  [
    'the retention of events',
    eventsKept,
    [
      'event is kept for TIME',
      'TIME after the event',
      '0 s \\| TIME after it was made',
      'events, which hold copies, are deleted after TIME',
      'Events are kept TIME',
      'of an API key for TIME',
      'older than TIME, is a 404',
      'event of another API key, or older than TIME',
      'events of this API key, of TIME',
      'events list --key KEY`\\. They are kept for TIME',
    ],
  ],
  [
    'the retention of a warning that is over',
    warningRetentionMs,
    ['`purgeAt` \\| 0 s \\| TIME after it was over', 'Those that are over are kept for TIME'],
  ],
  [
    'the remaining time at which an old secret causes a warning',
    expiringWithinMs,
    ['secret has less than TIME left'],
  ],
  [
    'the remaining time at which a balance counts as low',
    defaultLowDays * 86_400_000,
    ['live balance is used up within TIME', 'low once it is used up within TIME'],
  ],
  ['the age from which an event is listed', listedAfterMs, ['is listed from TIME after its time']],
  [
    'the delay before uses of secrets are stored',
    defaultPace.usesEvery,
    ['secret and process, TIME late', 'uses of these TIME'],
  ],
  [
    'the retention of grants in the ledger',
    grantRetentionMs,
    [
      'subject \\| TIME after the exchange',
      'the reads of the last TIME',
      'keeps its client (?:and its session )?for TIME',
    ],
  ],
  ['the retention of revocations of tokens', revocationRetentionMs.token, ["TIME after a token's"]],
  [
    'the retention of revocations after a withdrawal',
    revocationRetentionMs['withdrawn consent'],
    ['a withdrawal are deleted TIME after it'],
  ],
  [
    'the retention of revocations of removed grants',
    revocationRetentionMs['removed grant'],
    ['TIME after an erasure or repair'],
  ],
  [
    'the retention of a finished session',
    keepFinished,
    [
      'in failure is deleted after TIME',
      'unfinished session, TIME after a finished',
      'still finds them for TIME',
    ],
  ],
  [
    'the retention of an unfinished session',
    keepUnfinished,
    [
      'unfinished session is deleted after TIME',
      '0 s \\| TIME after an unfinished',
      'or TIME after the session has expired',
      'Such a session is kept for TIME',
      'without an event, and is kept for TIME',
      'without an event are kept for TIME',
    ],
  ],
  [
    'the retention of the request log',
    requestRetentionMs,
    [
      'TIME after the request \\|',
      'request log is kept for TIME',
      'Requests are kept for TIME',
      'public API are kept for TIME',
      'has its beginning for TIME',
    ],
  ],
  [
    'the retention of request counters',
    windowRetentionMs,
    ['TIME after the first request of the window', 'addresses are held for TIME'],
  ],
  [
    'the retention of a user whom no source recognises again',
    oneTimeUserLifetimeMs,
    [
      'TIME after creation',
      'enrollment are deleted after TIME',
      'is a new user, deleted after TIME',
      'no source recognises again is deleted after TIME',
    ],
  ],
  [
    'the wait before the second pass of an erasure',
    secondLookAfterMs,
    [
      'keyed hash, TIME later',
      'last references after TIME',
      'its token ends TIME later',
      'second pass revokes its token TIME later',
    ],
  ],
  [
    'the delay before expired claims are deleted',
    forgottenWithin,
    ['Claims are deleted within TIME after they expire'],
  ],
  [
    'the interval between two sweeps',
    sweepInterval,
    ['server does it every TIME', 'sweep of the server, every TIME'],
  ],
  ['the retention of finished jobs', keepJobs, ['scheduler \\| TIME after they ran']],
  ['the interval between two reads of trust anchors', checkEveryMs, ['read again within TIME of a change']],
  ['the time limit for the fetch of a status list', publicGetMs, ['up to 2 MiB, within TIME']],
  [
    'the retention of the response of a webhook receiver',
    answerRetentionMs,
    [
      'two headers \\| TIME after the first attempt',
      'first 4 KiB are kept for TIME',
      'of the answer for TIME, with',
      'beginning for TIME',
      'beginning of the answer is kept for TIME',
    ],
  ],
  [
    'the retention of values from a refused request',
    requestRetentionMs,
    ['exchanges of TIME that the wallet could', 'the shop of a refused request are kept for TIME'],
  ],
  [
    'the retention of the marks of dropped requests',
    requestRetentionMs,
    ['TIME after the minute in which requests were dropped'],
  ],
  ['the longest pause of a webhook endpoint', longestPauseMs, ['At most TIME; another time replaces']],
  [
    'the longest legal hold',
    longestHoldDays * 86_400_000,
    ['At most TIME; another hold', 'end is at most TIME ahead'],
  ],
  [
    'the end of what a hold has kept, after its release',
    releasedMs,
    ['meanwhile is deleted within TIME', 'during the hold are deleted within TIME'],
  ],
  [
    'the retention of a bulk job',
    bulkJobRetentionMs,
    ['TIME after the start of the job', 'the last of it after TIME'],
  ],
  [
    'the lifetime of a passkey challenge',
    challengeLifetimeMs,
    ["is the browser's own, lasts TIME, works", 'a challenge is valid for TIME, one browser'],
  ],
  [
    'the time for which a browser remembers a passkey',
    markDays.saved * 86_400_000,
    ['a keyed hash, and lasts TIME'],
  ],
  [
    'the time for which a browser remembers the answer "Not now"',
    markDays.declined * 86_400_000,
    ['after "Not now" TIME'],
  ],
  [
    'the time that owners have to refuse an invitation by support',
    heldMs,
    ['or has TIME to refuse it', 'it can be used after TIME'],
  ],
  [
    'the lifetime of an invitation to the portal',
    invitationLifetimeMs,
    ['a stolen invitation \\| TIME, one use', 'The link is valid for TIME, works once'],
  ],
  [
    'the lifetime of a session in the portal',
    sessionLifetimeMs,
    ['a stolen cookie \\| TIME, kept as a hash', 'TIME after the sign-in', 'a stolen token \\| TIME at most'],
  ],
  [
    'the lifetime of a sign-in of a user to the own data',
    signInLifetimeMs,
    ['are signed in for TIME', 'the sign-in ends TIME later'],
  ],
  ['the retention of a removed member', removedRetentionMs, ['TIME after the member was removed']],
  [
    'the time for which a passkey sign-in of a member counts as recent',
    freshForMs,
    ['needs? a passkey of the last TIME', 'with a passkey of TIME', 'no secrets after TIME'],
  ],
  [
    'the time to confirm the code of a login',
    requestLifetimeMs,
    ['34 random bits, TIME, one use', 'TIME after `svc login` began'],
  ],
  [
    'the time that an early poll adds to the interval of a login',
    pollInterval * 1000,
    ['Wait TIME longer between two polls'],
  ],
  ['the retention of an hour of the status page', hourRetentionMs, ['TIME after the hour']],
  [
    'the time span of the status page',
    daysKept * 86_400_000,
    ['of TIME, as a page and as JSON', 'records say of the last TIME'],
  ],
  [
    'the shortest outage that the status page records',
    minute,
    ['An outage of less than TIME may not be recorded'],
  ],
  [
    'the time for which a process claims the response of an identity wallet',
    requestLockMs,
    ['A claim ends after TIME'],
  ],
];

/** Durations that are no limits of this service. */
const others = [
  // Sampling periods for operators, and the time span of replays.
  'within TIME\\.',
  // Rates, and windows of the spend caps.
  '[\\d,]+ TIME',
  '(?:requests|sessions|secrets|client|cap|wallet|events|requests) (?:in )?TIME',
  'in a minute (?:or|and) TIME',
  'TIME bucket restarts',
  'full minute, TIME bucket',
  'deletes by the index once TIME',
  // Notices, and reading times.
  "TIME' notice",
  'at least TIME before it takes effect',
  'TIME from nothing to the first',
  // Expiry by an index, which retention.test.ts compares.
  '`\\w+` \\| `\\w+` \\| TIME',
  // A bound above `answerWithin`, for network delays.
  '`Retry-After`, within TIME',
  'reschedule dlv_… --in TIME',
  'delay from now; TIME',
  'balances that are up to TIME old',
  'about (?:the last )?TIME',
  // Periods of spending, and examples of `--keep-old`.
  'what is spent TIME',
  'gives the partner TIME',
  // Durations in examples of commands.
  'were not used for TIME',
  'run out within TIME',
  'is TIME ago',
  '`webhooks pause` TIME from now',
];

/** Pages for partners and their users. Every duration on them must be listed above. */
const pages = [
  ...[
    'choices',
    'errors',
    'flow',
    'glossary',
    'limits-and-billing',
    'quickstart',
    'retention',
    'security',
    'storefront',
  ],
  ...['support', 'testing', 'tokens-and-claims', 'versioning-and-environments', 'webhooks', 'cli'],
].map((name) => `docs/${name}.md`);
const complete = [...pages, 'README.md', 'cli/errors/guide.ts', 'docs/openapi.json'];
const everywhere = [
  ...readdirSync(new URL('../../docs/', import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...complete,
];
const contents = new Map(everywhere.map((path) => [path, readPage(path)]));

/** Returns a duration in its largest whole unit: `10 minutes`, `2.5 seconds`. */
function inWords(ms: number): string {
  const units = { day: 86_400_000, hour: 3_600_000, minute: 60_000 };
  const [name, unit] = Object.entries(units).find(([, unit]) => ms % unit === 0) ?? ['second', 1_000];
  return `${ms / unit} ${name}${ms === unit ? '' : 's'}`;
}

describe('the docs', () => {
  const durations = limits.map(([what, ms, phrases]) => [what, inWords(ms), ms, phrases] as const);

  it.each(durations)('agree with the code on %s: %s', (_what, _words, ms, phrases) => {
    expect(ms).toBeGreaterThan(0);
    for (const phrase of phrases) {
      const found = [...contents].flatMap(([path, page]) =>
        mentionsIn(page, phrase).map(({ text }) => ({ path, text })),
      );
      expect(found, `no page says "${phrase}"`).not.toEqual([]);
      for (const { path, text } of found)
        expect(millisecondsOf(text), `${path}: ${phrase}: ${text}`).toBe(ms);
    }
  });

  it.each(complete)('state in %s no duration that is missing in the tables of this test', (path) => {
    const page = contents.get(path) ?? '';
    const phrases = [...limits.flatMap(([, , own]) => own), ...others];
    const known = new Set(phrases.flatMap((phrase) => mentionsIn(page, phrase).map(({ at }) => at)));
    const unknown = mentionsIn(page).filter(({ at }) => !known.has(at));
    const around = unknown.map(({ at }) => page.slice(Math.max(0, at - 60), at + 60));
    expect(around, 'name the constant of each new time in `limits`, or say why it has none').toEqual([]);
  });
});

describe('the search for durations in a text', () => {
  it.each([
    ['10 minutes', 600_000],
    ['an hour', 3_600_000],
    ['1 s', 1_000],
    ['2.5 s', 2_500],
    ['two minutes', 120_000],
    ['Fifteen minutes', 900_000],
    ['a week', 604_800_000],
    ['3600 seconds', 3_600_000],
    ['1 day', 86_400_000],
    ['250 ms', 250],
  ])('finds "%s", and converts it to %i ms', (text, ms) => {
    expect(mentionsIn(text)).toEqual([{ at: 0, text }]);
    expect(millisecondsOf(text)).toBe(ms);
  });
});
