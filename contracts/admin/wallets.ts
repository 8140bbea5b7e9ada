import { z } from 'zod';
import { BillableKind, EntryKind } from '../charge.ts';
import { displayText } from '../display-text.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { boundedCents } from './bounded.ts';
import { page, reference } from './references.ts';

/** The limits of a funding in cents: at least 50 USD (interface section 8), at most a million USD (docs/choices.md). */
export const smallestFunding = 5_000;
export const largestFunding = 100_000_000;

const cents = z.number().int();
/** The largest sum in cents, and the highest position in a statement, that a call can name. */
const largestTotal = 1_000_000_000_000;
const Position = z.number().int().min(0).max(largestTotal);

export const WalletReference = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode.default('test'),
});
export type WalletReference = z.infer<typeof WalletReference>;

/** A note for the books, which is shown unchanged. */
const Note = displayText(200);

export const FundWallet = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode,
  amount: boundedCents(smallestFunding, largestFunding, {
    least: 'the least funding is',
    most: 'the most that is funded at a time is',
  }),
  reference: Note,
});

/** Fills the test wallet. */
export const RefillWallet = z.strictObject({ partnerId: reference('partner') });

/** The id of a finding of an audit. It names the fault and the content of the page, so a page that changes again has another one. */
export const FindingId = z
  .string()
  .regex(/^fnd_[\w-]{22}$/, { error: 'expected the id of a finding, fnd_…' });

export const AdjustWallet = z
  .strictObject({
    partnerId: reference('partner'),
    mode: Mode,
    amount: boundedCents(-largestFunding, largestFunding),
    reason: Note,
    /** A second call with the same reference and amount changes nothing. */
    reference: Note.optional(),
    /** Findings of an audit that no repair can mend, and that this adjustment settles. The amount may then be zero. */
    acknowledges: z.array(FindingId).min(1).max(100).optional(),
  })
  .refine(({ amount, acknowledges }) => amount !== 0 || acknowledges !== undefined, {
    error: 'must not be zero',
    path: ['amount'],
  });

export const RefundCharge = z.strictObject({ entryId: reference('entry'), reason: Note });

export const FindEntry = z.strictObject({ entryId: reference('entry') });

/** A ledger entry. Amounts are signed cents: negative ones reduce the balance. */
export const EntryView = z.strictObject({
  id: z.string(),
  walletId: z.string(),
  /** The position in the statement. Null for an entry that moves no money. */
  seq: z.number().int().nullable(),
  kind: EntryKind,
  amount: cents,
  balanceAfter: cents,
  currency: z.literal('USD'),
  at: DateTime,
  reference: z.string().nullable(),
  reason: z.string().nullable(),
  actor: z.string().nullable(),
  /** Id of the charge that a refund gives back. */
  of: z.string().nullable(),
});
export type EntryView = z.infer<typeof EntryView>;

/**
 * An entry with the session that it was charged for. The additional fields are null for entries that are no charges. They are null also
 * if the charge is older than 30 days, or if its user was erased.
 */
export const StatementEntry = EntryView.extend({
  clientId: z.string().nullable(),
  sessionId: z.string().nullable(),
  enrollmentId: z.string().nullable(),
});
export type StatementEntry = z.infer<typeof StatementEntry>;

/** An entry by its id, with its wallet and the actions that are still possible. */
export const EntryDetail = StatementEntry.extend({
  partnerId: z.string(),
  mode: Mode,
  /** The other account of the entry in double-entry bookkeeping. Null if the entry moves no money. */
  counterAccount: z.enum(['revenue', 'funding', 'adjustments']).nullable(),
  /** Id of the refund that gave the charge back. */
  givenBackBy: z.string().nullable(),
  /** Whether the entry is a charge that cost money and was not given back. */
  refundable: z.boolean(),
});
export type EntryDetail = z.infer<typeof EntryDetail>;

/** The entry that a funding, an adjustment or a refund has written, with the balance before it. */
export const MovedView = EntryView.extend({
  /** Whether an earlier call with the same content had written the entry already. Then this call moved no money. */
  repeated: z.boolean(),
  balanceBefore: cents,
});
export type MovedView = z.infer<typeof MovedView>;

/**
 * Reads a statement. `from` is included, `to` is not. A long statement is read in pages. For a page after the first,
 * `afterSeq` is the `seq` of the last entry that was read. `untilSeq` is the value that the first page returned.
 */
export const ReadStatement = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode.default('test'),
  from: DateTime.optional(),
  to: DateTime.optional(),
  afterSeq: Position.optional(),
  untilSeq: Position.optional(),
  limit: z.number().int().min(1).max(1000).default(500),
});

/** A statement in cents. `opening` plus the amounts of the entries is `closing`. */
export const StatementView = z.strictObject({
  partnerId: z.string(),
  mode: Mode,
  currency: z.literal('USD'),
  opening: cents,
  closing: cents,
  entries: z.array(StatementEntry),
  /** The `seq` of the last entry of the statement. It keeps entries that are written meanwhile out of the next pages. */
  untilSeq: z.number().int(),
  /** Whether there is another page. */
  more: z.boolean(),
});
export type StatementView = z.infer<typeof StatementView>;

/** Counts the charges of the last `days` days in UTC, today included. */
export const ReadUsage = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode.default('test'),
  days: z.number().int().min(1).max(31).default(30),
});

/** Charges that cost money, by day in UTC, the oldest day first. A very busy wallet has fewer days than were asked for. */
export const UsageView = z.strictObject({
  partnerId: z.string(),
  mode: Mode,
  currency: z.literal('USD'),
  days: z.array(z.strictObject({ day: z.string(), charges: z.number().int(), cents })),
});
export type UsageView = z.infer<typeof UsageView>;

/** `typ` of a signed statement's JWS. */
export const statementType = 'svc-statement+jwt';

/** A name of the time zone database, such as `Europe/Berlin`. */
const Timezone = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9_+/-]+$/, { error: 'expected a time zone such as UTC or Europe/Berlin' });

/** `timezone` is the zone whose days the period counts. The statement only names it. */
export const SignStatement = ReadStatement.pick({ partnerId: true, mode: true, from: true, to: true }).extend(
  {
    timezone: Timezone.default('UTC'),
  },
);

/** The signed content of a whole statement. `ledger` names the page of its last entry, with the digest of the ledger up to it. */
export const SignedStatement = StatementView.omit({ more: true }).extend({
  /** The entries without the sessions of charges. Sessions are erased after a time, but a signed statement must stay the same. */
  entries: z.array(EntryView),
  /**
   * The period as it was asked for: `from` is included, `to` is not. Null for the beginning and the end of the ledger. If it ends
   * after `iat`, later entries are missing. Statements of older builds name no period.
   */
  from: DateTime.nullable().optional(),
  to: DateTime.nullable().optional(),
  timezone: z.string().optional(),
  iss: z.string(),
  iat: z.number().int(),
  ledger: z.strictObject({ page: z.number().int(), digest: z.string() }),
});
export type SignedStatement = z.infer<typeof SignedStatement>;

export const SignedStatementView = z.strictObject({ jws: z.string() });

/** Audits all wallets in the order of their ids, or those of one partner. */
export const AuditWallets = z.strictObject({
  partnerId: reference('partner').optional(),
  /** Whether to check only the pages since the last audit without findings. */
  sinceCheckpoint: z.boolean().default(false),
  limit: z.number().int().min(1).max(100).default(20),
  after: page.after,
});

/** A fault in a ledger. `page`, `entry` and `seq` are set if the fault is about one page or one entry. */
const LedgerFinding = z.strictObject({
  id: FindingId,
  page: z.number().int().optional(),
  entry: z.string().optional(),
  seq: z.number().int().optional(),
  problem: z.string(),
  /**
   * What `wallets repair` does about it. `publish`: it sends the events of a page that were not sent. `endAccess`: it revokes an access
   * whose grant is missing or altered. `forgetCheckpoint`: it removes a checkpoint that does not match the ledger. Absent if no repair
   * can mend the fault.
   */
  mend: z.enum(['publish', 'endAccess', 'forgetCheckpoint']).optional(),
});
export type LedgerFinding = z.infer<typeof LedgerFinding>;

/** A finding that an adjustment names. It is no fault any more. */
const AcknowledgedFinding = LedgerFinding.extend({
  /** The id of the adjustment. */
  acknowledgedBy: z.string(),
});
export type AcknowledgedFinding = z.infer<typeof AcknowledgedFinding>;

export const AuditView = z.strictObject({
  walletId: z.string(),
  /** The first and the last page of the ledger that were checked. */
  fromPage: z.number().int(),
  lastPage: z.number().int(),
  /** The number of entries that were checked. */
  entries: z.number().int(),
  balance: cents,
  /** The faults in the order of pages. Empty if the ledger is consistent. */
  findings: z.array(LedgerFinding),
  acknowledged: z.array(AcknowledgedFinding),
});
export type AuditView = z.infer<typeof AuditView>;

/** Repairs all wallets in the order of their ids, or those of one partner. A repair always reads whole ledgers. */
export const RepairWallets = AuditWallets.omit({ sinceCheckpoint: true }).extend({
  /** Whether to say only what would be mended and what would be left. */
  dryRun: z.boolean().default(false),
});
export const RepairView = z.strictObject({
  walletId: z.string(),
  /** The findings that were mended. A dry run lists those that would be. */
  mended: z.array(LedgerFinding),
  /** The findings of an audit after the repair. No repair can mend them. */
  findings: z.array(LedgerFinding),
  balance: cents,
});
export type RepairView = z.infer<typeof RepairView>;

export const WalletView = z.strictObject({
  partnerId: z.string(),
  mode: Mode,
  balance: cents,
  currency: z.literal('USD'),
  /** The cents spent per day, since the sampled ledger page whose age is nearest to seven days. 0 if nothing was spent. */
  spentPerDay: cents,
  /** The days until the balance is used up at that rate. Null if nothing is spent. */
  daysLeft: z.number().nullable(),
  /** The numbers of entries of the statement and of pages of the ledger. */
  entries: z.number().int(),
  pages: z.number().int(),
});
export type WalletView = z.infer<typeof WalletView>;

/** The spend caps in billable events. `used` counts the events of the current minute and hour. */
export const LimitsView = z.strictObject({
  partnerId: z.string(),
  mode: Mode,
  perMinute: z.number().int(),
  perHour: z.number().int(),
  used: z.strictObject({ minute: z.number().int(), hour: z.number().int() }),
  /** The highest spend caps that members may set. Null for none. */
  ceilingPerMinute: z.number().int().nullable(),
  ceilingPerHour: z.number().int().nullable(),
});
export type LimitsView = z.infer<typeof LimitsView>;

/** A spend cap in billable events. A cap that is left out stays as it is, and 0 refuses all charges. */
const cap = z.number().int().min(0).max(1_000_000).optional();
export const SetLimits = z.strictObject({
  partnerId: reference('partner'),
  mode: Mode,
  perMinute: cap,
  perHour: cap,
  /** For operators: the highest caps that members may set. Null removes a ceiling. */
  ceilingPerMinute: cap.nullable(),
  ceilingPerHour: cap.nullable(),
});
export type SetLimits = z.infer<typeof SetLimits>;

/** The prices of billable events in cents. `overridden` lists the kinds with an individual price of the partner. */
export const PricesView = z.strictObject({
  partnerId: z.string().nullable(),
  currency: z.literal('USD'),
  token: cents,
  storefront: cents,
  checkbox: cents,
  overridden: z.array(BillableKind),
  /** Prices that begin later, the earliest first. */
  planned: z.array(z.strictObject({ kind: BillableKind, cents, from: DateTime })),
});
export type PricesView = z.infer<typeof PricesView>;

/** Shows the prices of a partner, or the standard prices. */
export const ShowPrices = z.strictObject({ partnerId: reference('partner').optional() });
export const SetPrice = z.strictObject({
  partnerId: reference('partner'),
  kind: BillableKind,
  cents: boundedCents(0, 1_000_000),
  /** When the price begins, in the future. Without it, the price begins now, and planned ones of the kind are removed. */
  from: DateTime.optional(),
});

/**
 * Lists all wallets in the order of their ids. With `below`, lists those with a lower balance, the lowest first. With `daysLeft`,
 * lists those that run out first. With `unfunded`, lists those without an entry.
 */
export const ListWallets = z.strictObject({
  mode: Mode.optional(),
  /** Only wallets with a balance below this, in cents. */
  below: boundedCents(-largestTotal, largestTotal).optional(),
  daysLeft: z.number().min(0).max(3_650).optional(),
  unfunded: z.literal(true).optional(),
  ...page,
});
export type ListWallets = z.infer<typeof ListWallets>;

/** A wallet in a list, with its spending. */
export const WalletListing = WalletView.omit({ entries: true, pages: true }).extend({
  /** The partner and the mode, such as `ptr_…:live`. */
  id: z.string(),
  partnerName: z.string().nullable(),
  lastEntryAt: DateTime,
  /** The number of exchanges of the last seven days that the wallet could not pay for. Since `unpaidSampledSince`, only a sample is counted. */
  unpaid: z.number().int(),
  lastUnpaidAt: DateTime.nullable(),
  unpaidSampledSince: DateTime.nullable(),
});
export type WalletListing = z.infer<typeof WalletListing>;
