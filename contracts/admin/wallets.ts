import { z } from 'zod';
import { BillableKind, EntryKind } from '../charge.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { page, reference } from './references.ts';

/** Interface section 8: 50 USD at least; docs/choices.md: at most a million at a time. Cents. */
export const smallestFunding = 5_000;
export const largestFunding = 100_000_000;

const cents = z.number().int();

export const WalletReference = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode.default('test'),
});
export type WalletReference = z.infer<typeof WalletReference>;

/** A note for the books: shown as it is, so without control characters. */
const Note = z
  .string()
  .trim()
  .min(1, { error: 'must not be empty' })
  .max(200)
  .regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' });

export const FundWallet = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode,
  amount: cents
    .min(smallestFunding, { error: 'the least funding is 50.00 USD' })
    .max(largestFunding, { error: 'the most that is funded at a time is 1000000.00 USD' }),
  reference: Note,
});

export const AdjustWallet = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode,
  amount: cents
    .min(-largestFunding)
    .max(largestFunding)
    .refine((amount) => amount !== 0, { error: 'must not be zero' }),
  reason: Note,
  /** The same reference and amount twice is one adjustment. */
  reference: Note.optional(),
});

export const RefundCharge = z.strictObject({ entryId: reference('entry'), reason: Note });

export const FindEntry = z.strictObject({ entryId: reference('entry') });

/** A ledger entry. Amounts are signed cents as the wallet sees them. */
export const EntryView = z.strictObject({
  id: z.string(),
  walletId: z.string(),
  /** Position in the statement; null for an entry that moves no money. */
  seq: z.number().int().nullable(),
  kind: EntryKind,
  amount: cents,
  balanceAfter: cents,
  currency: z.literal('USD'),
  at: DateTime,
  reference: z.string().nullable(),
  reason: z.string().nullable(),
  actor: z.string().nullable(),
  /** The charge that a refund gives back. */
  of: z.string().nullable(),
});
export type EntryView = z.infer<typeof EntryView>;

/** What a charge was for; null for other entries, and once the grant is older than 30 days or its user was erased. */
const cause = {
  clientId: z.string().nullable(),
  sessionId: z.string().nullable(),
  enrollmentId: z.string().nullable(),
};

/** An entry as a statement shows it. */
export const StatementEntry = EntryView.extend(cause);
export type StatementEntry = z.infer<typeof StatementEntry>;

/** An entry by its id, with its wallet and the actions that are still possible. */
export const EntryDetail = StatementEntry.extend({
  partnerId: z.string(),
  mode: Mode,
  /** The account on the other side of the wallet, which moves by the same amount the other way; null where none does. */
  counterAccount: z.enum(['revenue', 'funding', 'adjustments']).nullable(),
  /** The refund that gave it back. */
  givenBackBy: z.string().nullable(),
  /** Whether it is a charge that cost money and was not given back. */
  refundable: z.boolean(),
});
export type EntryDetail = z.infer<typeof EntryDetail>;

/** An entry that was asked for, and what it did. */
export const MovedView = EntryView.extend({
  /** True where the same command was done before: nothing moved now. */
  repeated: z.boolean(),
  balanceBefore: cents,
});
export type MovedView = z.infer<typeof MovedView>;

/** `from` inclusive, `to` exclusive. A long statement is read page by page: `afterSeq` and `untilSeq` continue it. */
export const ReadStatement = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode.default('test'),
  from: DateTime.optional(),
  to: DateTime.optional(),
  afterSeq: z.number().int().min(0).optional(),
  untilSeq: z.number().int().min(0).optional(),
  limit: z.number().int().min(1).max(1000).default(500),
});

/** `opening` plus the amounts of the entries is `closing`; cents. */
export const StatementView = z.strictObject({
  partnerId: z.string(),
  mode: Mode,
  currency: z.literal('USD'),
  opening: cents,
  closing: cents,
  entries: z.array(StatementEntry),
  /** Pass it on with `afterSeq` (the last entry's `seq`) while `more`. */
  untilSeq: z.number().int(),
  more: z.boolean(),
});
export type StatementView = z.infer<typeof StatementView>;

/** `typ` of a signed statement's JWS. */
export const statementType = 'svc-statement+jwt';

export const SignStatement = ReadStatement.pick({ partnerId: true, mode: true, from: true, to: true });

/** A whole statement as it is signed. `ledger` names the page that holds its last line, with the digest of the chain up to it. */
export const SignedStatement = StatementView.omit({ more: true }).extend({
  /** Without what a charge was for: that is forgotten in time, and a statement stays the same. */
  entries: z.array(EntryView),
  iss: z.string(),
  iat: z.number().int(),
  ledger: z.strictObject({ page: z.number().int(), digest: z.string() }),
});
export type SignedStatement = z.infer<typeof SignedStatement>;

/** A compact JWS. */
export const SignedStatementView = z.strictObject({ jws: z.string() });

/** All wallets in the order of their ids, or one partner's. */
export const AuditWallets = z.strictObject({
  partnerId: reference('partner').optional(),
  /** Only what was written since the last audit that found everything in order. */
  sinceCheckpoint: z.boolean().default(false),
  limit: z.number().int().min(1).max(100).default(20),
  after: z.string().optional(),
});

/** What is wrong with a ledger, and where. */
const LedgerFinding = z.strictObject({
  page: z.number().int().optional(),
  entry: z.string().optional(),
  seq: z.number().int().optional(),
  problem: z.string(),
  /** What `wallets repair` does about it; absent where no repair can mend it. */
  mend: z.enum(['publish', 'endAccess', 'forgetCheckpoint']).optional(),
});

export const AuditView = z.strictObject({
  walletId: z.string(),
  /** First and last page of the ledger that were looked at. */
  fromPage: z.number().int(),
  lastPage: z.number().int(),
  /** Entries that were looked at. */
  entries: z.number().int(),
  balance: cents,
  /** Empty where everything agrees; otherwise the first bad page first. */
  findings: z.array(LedgerFinding),
});
export type AuditView = z.infer<typeof AuditView>;

/** All wallets in the order of their ids, or one partner's. */
export const RepairWallets = AuditWallets.omit({ sinceCheckpoint: true });
export const RepairView = z.strictObject({
  walletId: z.string(),
  /** What was mended. */
  mended: z.array(LedgerFinding),
  /** What an audit finds now: no repair can mend it. */
  findings: z.array(LedgerFinding),
  balance: cents,
});
export type RepairView = z.infer<typeof RepairView>;

export const WalletView = z.strictObject({
  partnerId: z.string(),
  mode: Mode,
  balance: cents,
  currency: z.literal('USD'),
  /** Cents, from about the last seven days; 0 where nothing moved in them. */
  spentPerDay: cents,
  /** When the balance is used up at that rate; null where nothing is spent. */
  daysLeft: z.number().nullable(),
  /** Entries of the statement, and pages of the ledger. */
  entries: z.number().int(),
  pages: z.number().int(),
});
export type WalletView = z.infer<typeof WalletView>;

/** Billable events; `used` counts those of the current minute and hour. */
export const LimitsView = z.strictObject({
  partnerId: z.string(),
  mode: Mode,
  perMinute: z.number().int(),
  perHour: z.number().int(),
  used: z.strictObject({ minute: z.number().int(), hour: z.number().int() }),
});
export type LimitsView = z.infer<typeof LimitsView>;

const cap = z.number().int().min(0).max(1_000_000).optional();
export const SetLimits = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode,
  perMinute: cap,
  perHour: cap,
});
export type SetLimits = z.infer<typeof SetLimits>;

/** Cents per billable event of each kind, and which of them are the partner's own. */
export const PricesView = z.strictObject({
  partnerId: z.string().nullable(),
  currency: z.literal('USD'),
  token: cents,
  storefront: cents,
  checkbox: cents,
  overridden: z.array(BillableKind),
});
export type PricesView = z.infer<typeof PricesView>;

export const ShowPrices = z.strictObject({ partnerId: reference('partner').optional() });
export const SetPrice = z.strictObject({
  partnerId: reference('partner'),
  kind: BillableKind,
  cents: cents.min(0).max(1_000_000),
});

/**
 * All wallets in the order of their ids; by `below`, the emptiest first; by `daysLeft`, those that run out first; by
 * `unfunded`, those without an entry.
 */
export const ListWallets = z.strictObject({
  mode: Mode.optional(),
  /** Cents. */
  below: cents.optional(),
  daysLeft: z.number().min(0).max(3_650).optional(),
  unfunded: z.literal(true).optional(),
  ...page,
});
export type ListWallets = z.infer<typeof ListWallets>;

/** A wallet with what it spends. */
export const WalletListing = z.strictObject({
  /** `ptr_…:live` */
  id: z.string(),
  partnerId: z.string(),
  partnerName: z.string().nullable(),
  mode: Mode,
  balance: cents,
  currency: z.literal('USD'),
  /** Cents, from about the last seven days; 0 where nothing moved in them. */
  spentPerDay: cents,
  /** When the balance is used up at that rate; null where nothing is spent. */
  daysLeft: z.number().nullable(),
  lastEntryAt: DateTime,
  /** Exchanges of the last seven days that the wallet could not pay for, and the last one; under load a sample is kept. */
  unpaid: z.number().int(),
  lastUnpaidAt: DateTime.nullable(),
});
export type WalletListing = z.infer<typeof WalletListing>;
