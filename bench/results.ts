import type { Ceiling } from './load/ceiling.ts';
import { micros, whole } from './report.ts';

export interface Facts {
  machine: string;
  versions: string;
  rounds: number;
  seconds: number;
  ceiling: Ceiling | undefined;
}

const widest = 120;

/** Breaks prose into lines of at most 120 characters. Headings and tables are unchanged. */
function wrapped(markdown: string): string {
  const wrap = (line: string) => {
    const indent = line.startsWith('- ') ? '  ' : '';
    const lines: string[] = [];
    let current = '';
    for (const word of line.split(' ')) {
      if (current !== '' && current.length + 1 + word.length > widest) {
        lines.push(current);
        current = indent + word;
      } else {
        current = current === '' ? word : `${current} ${word}`;
      }
    }
    return [...lines, current].join('\n');
  };
  return markdown
    .split('\n')
    .map((line) => (line.length <= widest || /^[|#]/.test(line) ? line : wrap(line)))
    .join('\n');
}

/** RESULTS.md. */
export function renderResults(facts: Facts, tables: string): string {
  const { machine, versions, rounds, seconds, ceiling } = facts;
  const limit = ceiling
    ? `The load generator reaches ${whole(ceiling.rate)} requests/s against an HTTP server that does nothing, at ${micros(ceiling.loadCpu)} µs of processor time each.`
    : '';
  return wrapped(`# Results of \`npm run bench\`

Written by the bench; run it again to replace it.

- Machine: ${machine}.
- Versions: ${versions}.
- Each figure of requests is the median of ${rounds} interleaved rounds (every server once, then every server again) of about ${seconds} s, after a warm-up.

How to read it: figures of shared machines vary from run to run; **ratios within one run** are what counts.
All processes share the machine's cores: server, database and load generator. Node has the options of \`npm start\`, also
for the peers. Every request of the exchange rows
redeems a fresh code by \`authorization_code\` with PKCE and \`client_secret_post\`, exactly once; codes are prepared
before the clock starts. Every write that an answer relies on is confirmed from the journal (\`w: 1, j: true\`).
Each exchange of ours also charges the partner's wallet and is written to its ledger, and after every round tokens =
charges = ledger rows and every balance is the sum of its ledger, or the run fails. The peers bill nothing. They are
given their best case: clients from memory instead of the database, no log, and no ID token, except that oidc-provider in
memory signs one, as it does by default. At default limits a partner may make 30 exchanges a minute; else limits are
raised, and a process counts a part of them ahead. Database commands are the server's own count of reads and writes,
without those of an idle second. Userinfo is cold when the
server sees each token for the first time, warm when it has seen all of them before. Processor time per request
depends less on what else the machine does than requests per second do. ${limit}

One wallet: all callers redeem codes of one partner's client, and every charge is the next entry of the same ledger.
Then they redeem codes of 200 partners in turn. One, two, four and eight processes have a database each,
stand still while others are asked, and their rounds alternate. Processor time is that of all processes asked. An equal share is the answers of all
processes divided by their number; the least and the greatest are medians of the rounds. A caller repeats
what is answered 503 after 30 ms; these answers are counted over all rounds.

Hosted flows: a user goes from the authorization request through both pages with a form, consent and log-in, to the code
in the redirect. The same client, in one process, sends what a browser without JavaScript does, each user over one
connection. New users are unknown to the server; returning ones have completed a flow with that partner, and each begins
in a browser without cookies. oidc-provider gets its best case: pages of one form, users who are a name, no look-up.
Database commands are the server's own count of reads and writes, without those of an idle second. A journey ends when
the partner has the claims; the rate counts to the last webhook, of two for each journey.

A partner at its cap: one server process, and a process for each partner that sends its requests. The quiet partner
sends exchanges evenly, far fewer than the server could answer; the noisy one may make 60 a minute and sends ten times
as many, evenly too, and then as many as are answered. In some rows its wallet's spend cap refuses it, in others its
client's request limit, with a 429 either way; it is brought to its cap before the clock starts, and what it is granted
is of minutes that begin while it sends. p50 and p99 are the quiet partner's, from sending to the end of the answer,
medians of short turns that alternate, alone and beside the noisy one. Where the turns of one row differ more than the
rows do, the ratio says little. After the run every partner was charged for exactly what it was granted, the noisy ones
within their caps, or the run fails.

Webhooks: returning users' codes are redeemed, and each exchange causes one event for its partner (\`vae.resolved\`). One
server process answers and sends; a hundred partners have an endpoint each, all in one other process. Accepted: the
exchange was answered. Delivered: the endpoint answered 2xx; the rate counts from the first exchange, or from when all
were due, to the last of these POSTs. Due to sent is by the server's clock, for every attempt; retries are due after
1 s. What hangs answers once the last exchange is answered. Lost and duplicated is what the endpoints themselves
counted, over everything that was sent.

Webhooks beside queues: the same events, signed, through our engine and through three queues that make a job of each
delivery: BullMQ on Redis (\`appendfsync always\`), graphile-worker on PostgreSQL (as it is installed, jobs fetched and
ended in batches) and Agenda on the database server that ours uses too. A queue is one process that stores the events
and sends them, or four that send and of which one stores them, to the same endpoints, all of which accept. Each event is confirmed from the journal before its caller
goes on, and is sent at least once after a crash. Rounds alternate, after one round of warm-up; figures are medians. Processor time is
that of the sender and of its database, without what both use while nothing is due. The queues are given their best case:
URLs and signing secrets from memory, no check of addresses, no stored attempt, no history.

${tables}
`);
}
