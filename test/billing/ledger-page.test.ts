import fc from 'fast-check';
import { BSON } from 'mongodb';
import { describe, expect, it } from 'vitest';
import {
  digestOf,
  type Grant,
  grantSealOf,
  type LedgerPage,
} from '../../server/billing/ledger/ledger-page.ts';
import { draftPage, fencePage, openingPage, type Posting } from '../../server/billing/ledger/page-builder.ts';
import { admit, newWallet } from '../../server/billing/ledger/wallet-rules.ts';

const walletId = 'ptr_1:test';
const noon = Date.UTC(2026, 0, 5, 12);
const opening = openingPage(walletId, new Date(noon));
const head = { ...opening, state: { ...newWallet, balance: 10_000 }, asOf: 0 };
const terms = {
  ...{ partnerId: 'ptr_1', mode: 'test' as const, clientId: 'cli_1', keyId: 'key_1', sessionId: 'ses_1' },
  ...{
    enrollmentId: 'enr_1',
    sub: 's',
    returning: true,
    scope: 'age_18_plus',
    claims: { age_18_plus: true },
  },
  meta: {
    claims_requested: ['age_18_plus'],
    claims_resolved: ['age_18_plus' as const],
    claims_null: [],
    claims_ignored: [],
  },
};
const charge = (id: string, amount = -50): Posting => ({
  ...{ walletId, id, kind: 'token', amount },
  grant: { terms, lifetimeSeconds: 3_600 },
});
const page = (): LedgerPage =>
  draftPage(
    head,
    [charge('txn_1'), { walletId, id: 'txn_2', kind: 'funding', amount: 5_000, memo: { reference: 'r' } }],
    noon,
  ).page;

/** The path of every value in a document, and the document with a different value at that path. */
function changes(
  value: unknown,
  path: string[] = [],
): { path: string; changed: (root: LedgerPage) => LedgerPage }[] {
  if (value !== null && typeof value === 'object' && !(value instanceof Date)) {
    return Object.entries(value).flatMap(([key, below]) => changes(below, [...path, key]));
  }
  const other =
    value instanceof Date
      ? new Date(value.getTime() + 1)
      : typeof value === 'number'
        ? value + 1
        : `${value}x`;
  const changed = (root: LedgerPage) => {
    const copy = structuredClone(root);
    let at = copy as unknown as Record<string, unknown>;
    for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
    at[path.at(-1) ?? ''] = other;
    return copy;
  };
  return [{ path: path.join('.'), changed }];
}

it('a page keeps its grants for 30 days, and a page without grants has no time for that', () => {
  expect(page().purgeGrantsAt).toEqual(new Date(noon + 30 * 86_400_000));
  const funding: Posting = {
    walletId,
    id: 'txn_2',
    kind: 'funding',
    amount: 5_000,
    memo: { reference: 'r' },
  };
  expect(draftPage(head, [funding], noon).page).not.toHaveProperty('purgeGrantsAt');
});

describe('the digest of a ledger page', () => {
  const outside = /^(digest|unpublished|purgeGrantsAt|entries\.\d+\.grant\..*)$/;

  it('changes with every field of the page, except the grants and the marks for later work', () => {
    const original = { ...page(), unpublished: true as const };
    expect(digestOf(original)).toBe(original.digest);
    const all = changes(original);
    expect(all.length).toBeGreaterThan(30);
    for (const { path, changed } of all) {
      const isSame = digestOf(changed(original)) === original.digest;
      expect([path, isSame]).toEqual([path, outside.test(path)]);
    }
  });

  it('differs between the first and the second page, and the second page stores that of the first as `previous`', () => {
    const first = page();
    const second = draftPage({ ...first, asOf: 0 }, [charge('txn_3')], noon).page;
    expect(second.previous).toBe(first.digest);
    expect(second.digest).not.toBe(first.digest);
  });
});

describe('the seal of a grant', () => {
  it('changes with every field of the grant, and differs between two equal grants', () => {
    const grant = page().entries[0]?.grant as Grant;
    for (const { path, changed } of changes(grant)) {
      const other = changed(grant as unknown as LedgerPage) as unknown as Grant;
      expect([path, grantSealOf(other) === grantSealOf(grant)]).toEqual([path, false]);
    }
    expect(page().entries[0]?.grantSeal).not.toBe(page().entries[0]?.grantSeal);
  });
});

describe('draftPage', () => {
  it('sets the expiry of a grant to the time of the page plus the lifetime of the grant', () => {
    const [entry] = draftPage(head, [charge('c')], noon).page.entries;
    expect(entry?.grant?.expiresAt).toEqual(new Date(noon + 3_600_000));
  });

  it('applies the entries in order: every balance equals the balance before plus the amount', () => {
    const amounts = fc.array(fc.integer({ min: -20_000, max: 20_000 }), { maxLength: 40 });
    fc.assert(
      fc.property(amounts, (all) => {
        const postings = all.map(
          (amount, n): Posting =>
            amount <= 0 ? charge(`c${n}`, amount) : { walletId, id: `f${n}`, kind: 'funding', amount },
        );
        const drafted = draftPage(head, postings, noon + 5);
        let { state } = head;
        for (const entry of drafted.page.entries) {
          state = admit(state, entry, noon + 5);
          expect([entry.balanceAfter, entry.seq]).toEqual([state.balance, state.seq]);
        }
        expect(drafted.page.state).toEqual(state);
        expect(drafted.placed.length + drafted.refused.length).toBe(postings.length);
      }),
    );
  });

  it('places one of two entries with the same id, and either places or refuses each of 130 charges at the cap', () => {
    const twice = draftPage(head, [charge('txn_1'), charge('txn_1')], noon);
    expect([twice.placed.length, twice.later.length]).toEqual([1, 1]);
    const many = draftPage(
      head,
      Array.from({ length: 130 }, (_, n) => charge(`txn_${n}`, 0)),
      noon,
    );
    expect([many.placed.length + many.refused.length, many.page.entries.length <= 128]).toEqual([
      60 + 70,
      true,
    ]);
  });

  it('places at most 128 entries on a page', () => {
    const rich = { ...head, state: { ...head.state, caps: { perMinute: 1_000, perHour: 1_000 } } };
    const many = draftPage(
      rich,
      Array.from({ length: 130 }, (_, n) => charge(`txn_${n}`)),
      noon,
    );
    expect([many.page.entries.length, many.later.length]).toEqual([128, 2]);
  });

  it('gives a page a time that is never before that of the previous page', () => {
    expect(draftPage(head, [charge('txn_1')], noon - 60_000).page.at).toEqual(new Date(noon));
    expect(draftPage(head, [charge('txn_1')], noon + 7).page.entries[0]?.at).toEqual(new Date(noon + 7));
  });

  it('gives a sequence number only to entries that move money', () => {
    const caps: Posting = { walletId, id: 'caps_1', kind: 'caps', amount: 0, memo: { caps: { perHour: 7 } } };
    const { page: drafted } = draftPage(head, [charge('txn_1'), caps, charge('txn_2')], noon);
    expect(drafted.entries.map(({ seq }) => seq)).toEqual([1, undefined, 2]);
    expect(drafted.state.caps).toEqual({ perMinute: 60, perHour: 7 });
  });
});

describe('a fence', () => {
  it("has the number of the page that it replaces, and the wallet's balance stays unchanged", () => {
    const lost = page();
    const fence = fencePage(lost, head);
    expect(fence).toMatchObject({ _id: lost._id, n: lost.n, previous: head.digest, state: head.state });
    expect(fence.attempt).not.toBe(lost.attempt);
    expect(fence.entries).toHaveLength(1);
  });
});

describe('the digests of a page with a lone surrogate', () => {
  it('are those of the page as the database returns it', () => {
    const claims_ignored = ['a\ud800b'];
    const grant = { terms: { ...terms, meta: { ...terms.meta, claims_ignored } }, lifetimeSeconds: 60 };
    const memo = { reference: '\udfffr', reason: 'ok \ud83d' };
    const postings: Posting[] = [
      { ...charge('txn_1'), grant },
      { walletId, id: 'txn_2', kind: 'funding', amount: 5_000, memo },
    ];
    const drafted = draftPage(head, postings, noon).page;
    const stored = BSON.deserialize(BSON.serialize(drafted)) as LedgerPage;
    expect(stored.entries[1]?.memo?.reference).toBe('\uFFFDr');
    expect(digestOf(stored)).toBe(drafted.digest);
    const [{ grant: kept, grantSeal } = expect.unreachable()] = stored.entries;
    expect(kept && grantSealOf(kept)).toBe(grantSeal);
  });
});
