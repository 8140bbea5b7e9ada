import { randomUUID } from 'node:crypto';
import type { Db, Document, OptionalUnlessRequiredId } from 'mongodb';
import { walletIdOf } from '../../../server/billing/ledger/ledger-page.ts';
import { createLedgerStore } from '../../../server/billing/ledger/ledger-store.ts';
import { draftPage, openingPage } from '../../../server/billing/ledger/page-builder.ts';
import { randomId, randomRequestId } from '../../../server/platform/ids.ts';

/** The number of records of each kind. */
export interface Size {
  deliveries: number;
  wallets: number;
}

/** Documents that the service itself has made. The large database contains renamed copies of them. */
export interface Templates {
  partner: Document;
  key: Document;
  client: Document;
  session: Document;
  enrollment: Document;
  user: Document;
  event: Document;
  delivery: Document;
  request: Document;
  audit: Document;
}

const perInsert = 2_000;
const day = 86_400_000;
const month = 30 * day;
/** The partner of the template is the largest customer. It has one of so many records. */
const largestShareDivisor = 10;

/** Returns the `n`th of `count` times in the last 30 days. */
const momentOf = (n: number, count: number) => new Date(Date.now() - month + (month * (n + 1)) / (count + 1));

/** Inserts the results of `make` for 0 … count - 1, in bulk. */
async function fill(
  db: Db,
  collection: string,
  { count, make }: { count: number; make: (n: number) => Document },
): Promise<void> {
  const target = db.collection(collection, { writeConcern: { w: 1, journal: false } });
  for (let done = 0; done < count; done += perInsert) {
    const length = Math.min(perInsert, count - done);
    const documents = Array.from({ length }, (_, n) =>
      make(done + n),
    ) as OptionalUnlessRequiredId<Document>[];
    await target.insertMany(documents, { ordered: false });
  }
}

/** Returns the fields that the dispatcher stores with a sent attempt. */
const sentAttempt = ({ nextAttemptAt: at }: Document) => ({
  ...{ attempt: 1, trigger: 'event', dueAt: at, at, durationMs: 84, status: 200, secretVersion: 1 },
  ...{ url: 'https://shop.example.com/webhooks/svc', address: '203.0.113.7:443' },
  ...{ signature: `sha256=${'0'.repeat(64)}`, answer: 'OK' },
});
const failedAttempt = (delivery: Document) => ({ ...sentAttempt(delivery), status: 500, error: 'http' });

/** Returns the state of the `n`th delivery. Of 1,000 deliveries, 970 are delivered, 20 failed, 5 skipped, and 5 wait. */
function stateOf(n: number, delivery: Document): Document {
  const place = n % 1_000;
  const { nextAttemptAt: _due, ...ended } = delivery;
  if (place < 970) return { ...ended, status: 'delivered', attempts: [sentAttempt(delivery)] };
  const attempt = failedAttempt(delivery);
  if (place < 990) return { ...ended, status: 'failed', attempts: [attempt, attempt, attempt] };
  if (place < 995) return { ...ended, status: 'skipped', skipped: { reason: 'no_url', at: new Date() } };
  const nextAttemptAt = new Date(Date.now() + 3_600_000 + n);
  return { ...ended, status: 'pending', attempt: 2, lane: 'retry', attempts: [attempt], nextAttemptAt };
}

/** Fills a database to `size`. Calls `note` with each completed part. */
export async function build(
  db: Db,
  { deliveries, wallets }: Size,
  { templates, note }: { templates: Templates; note: (what: string) => void },
): Promise<void> {
  const partners = Math.ceil(wallets / 2);
  const owners = Array.from({ length: partners }, () => ({
    partnerId: randomId('partner'),
    keyId: randomId('apiKey'),
    clientId: randomId('client'),
  }));
  const own = {
    partnerId: String(templates.partner['_id']),
    keyId: String(templates.key['_id']),
    clientId: String(templates.client['_id']),
  };
  const ownerOf = (n: number) => (n % largestShareDivisor === 0 ? own : (owners[n % partners] ?? own));
  const made = (n: number, count: number) => {
    const createdAt = momentOf(n, count);
    return { createdAt, purgeAt: new Date(createdAt.getTime() + month) };
  };

  const partnersOnly = (make: (n: number, owner: (typeof owners)[number]) => Document) => ({
    count: partners,
    make: (n: number) => make(n, owners[n] ?? own),
  });
  await fill(
    db,
    'partners',
    partnersOnly((n, { partnerId }) => ({
      ...{ ...templates.partner, _id: partnerId, name: `Partner ${n}`, createdAt: momentOf(n, partners) },
    })),
  );
  await fill(
    db,
    'apiKeys',
    partnersOnly((_n, { partnerId, keyId }) => ({
      ...{ ...templates.key, _id: keyId, partnerId, hash: randomUUID() },
    })),
  );
  await fill(
    db,
    'clients',
    partnersOnly((_n, { partnerId, keyId, clientId }) => ({
      ...{ ...templates.client, _id: clientId, partnerId, keyId },
    })),
  );
  note(`${partners} partners with keys and clients`);

  const ledger = createLedgerStore(db);
  const at = new Date(Date.now() - month);
  for (let first = 0; first < partners; first += 250) {
    const ids = owners
      .slice(first, first + 250)
      .flatMap(({ partnerId }) => [walletIdOf(partnerId, 'test'), walletIdOf(partnerId, 'live')]);
    const openings = ids.map((walletId) => openingPage(walletId, at));
    await ledger.insert(openings);
    const posting = (walletId: string, kind: 'funding' | 'token', amount: number) => ({
      ...{ walletId, id: randomId('entry'), kind, amount },
      ...(kind === 'funding' && { memo: { actor: 'opr_growth', reference: 'growth' } }),
    });
    const funded = openings.map(
      (page) =>
        draftPage({ ...page, asOf: 0 }, [posting(page.walletId, 'funding', 10_000)], at.getTime()).page,
    );
    const charged = funded.map((page, n) => {
      const amount = -1 - ((first + n) % 9_999);
      return draftPage({ ...page, asOf: 0 }, [posting(page.walletId, 'token', amount)], Date.now() - day)
        .page;
    });
    await ledger.insert(funded);
    await ledger.insert(charged);
  }
  note(`${2 * partners} wallets of three pages`);

  const count = { sessions: Math.ceil(deliveries / 5), enrollments: Math.ceil(deliveries / 10) };
  const people = Array.from({ length: count.enrollments }, () => ({
    enrollmentId: randomId('enrollment'),
    userId: randomId('user'),
    sub: randomUUID(),
    identity: randomUUID(),
  }));
  const personOf = (n: number) => people[n % people.length];
  const {
    code: _code,
    handoff: _handoff,
    outbox: _o,
    outboxAt: _oa,
    enrollmentDueAt: _e,
    ...session
  } = templates.session;
  await fill(db, 'users', {
    count: people.length,
    make: (n) => ({ ...templates.user, _id: personOf(n)?.userId, identity: personOf(n)?.identity }),
  });
  await fill(db, 'users', {
    count: people.length,
    make: (n) => ({ _id: `idn_${personOf(n)?.identity}`, userId: personOf(n)?.userId }),
  });
  await fill(db, 'enrollments', {
    count: people.length,
    make: (n) => ({
      ...{ ...templates.enrollment, ...ownerOf(n), _id: personOf(n)?.enrollmentId },
      ...{ userId: personOf(n)?.userId, sub: personOf(n)?.sub, createdAt: momentOf(n, people.length) },
    }),
  });
  const sessions = Array.from({ length: count.sessions }, () => randomId('session'));
  await fill(db, 'sessions', {
    count: sessions.length,
    make: (n) => ({
      ...{
        ...session,
        ...ownerOf(n),
        ...made(n, sessions.length),
        ...personOf(n),
        _id: sessions[n],
        outbox: [],
      },
      expiresAt: momentOf(n, sessions.length),
    }),
  });
  note(`${people.length} users with enrollments, ${sessions.length} sessions`);

  await fill(db, 'requestLog', {
    count: sessions.length,
    make: (n) => ({
      ...{ ...templates.request, _id: randomRequestId(), sessionId: sessions[n] },
      ...{
        at: momentOf(n, sessions.length),
        status: n % 50 === 0 ? 400 : 200,
        clientId: ownerOf(n).clientId,
      },
      purgeAt: new Date(Date.now() + month),
    }),
  });
  await fill(db, 'auditLog', {
    count: Math.ceil(deliveries / 50),
    make: (n) => ({
      ...templates.audit,
      _id: randomUUID(),
      target: ownerOf(n).partnerId,
      at: momentOf(n, deliveries / 50),
    }),
  });
  note('the request log and the audit log');

  const events = Array.from({ length: deliveries }, () => randomId('event'));
  const about = (n: number) => ({
    ...{ partnerId: ownerOf(n).partnerId, keyId: ownerOf(n).keyId, sessionId: sessions[n % sessions.length] },
    ...{ sub: personOf(n)?.sub, enrollmentId: personOf(n)?.enrollmentId },
  });
  await fill(db, 'events', {
    count: deliveries,
    make: (n) => ({ ...templates.event, ...about(n), ...made(n, deliveries), _id: events[n] }),
  });
  note(`${deliveries} events`);
  await fill(db, 'deliveries', {
    count: deliveries,
    make: (n) => ({
      ...{ ...stateOf(n, templates.delivery), ...about(n), ...made(n, deliveries) },
      ...{ _id: randomId('delivery'), eventId: events[n] },
    }),
  });
  note(`${deliveries} deliveries`);
}
