import { hour, minute, windowStart } from '../platform/windows.ts';
import { largestChargeCount, largestHoldCount, type Posting, ringSize } from './wallet-model.ts';

/**
 * The update that carries a batch out inside the database: `applyBatch` of wallet-model.ts, expression by
 * expression, for as many wallets as are due at once. A batch that admits and settles nothing leaves the
 * document as it was, byte for byte, so nothing is journaled for a refusal.
 */

export interface WalletBatch {
  walletId: string;
  /** Ids whose ledger entries are written. */
  settled: readonly string[];
  /** Each id at most once. */
  postings: readonly Posting[];
}

type Expression = Record<string, unknown>;

/**
 * In the database `recentlySettled` is one string, for an array of 256 ids costs more than all the rest: oldest first,
 * each id in a cell of its own that begins with a space and is filled up with dots.
 */
const cellLength = 32;
const dots = '.'.repeat(cellLength);
/** With its borders, for an id may be the end of another one. */
const isIn = (ring: string, id: string): Expression => ({
  $gte: [{ $indexOfBytes: [ring, { $concat: [' ', id, '.'] }] }, 0],
});

/** The cells of a list of ids. */
const cellsOf = (ids: unknown): Expression => ({
  $reduce: {
    input: ids,
    initialValue: '',
    in: { $concat: ['$$value', { $substrBytes: [{ $concat: [' ', '$$this', dots] }, 0, cellLength] }] },
  },
});

/** The ring as it is stored. Earlier builds kept an array: the first update of such a wallet makes it a string. */
const storedRing: Expression = {
  $cond: [{ $isArray: '$recentlySettled' }, cellsOf('$recentlySettled'), '$recentlySettled'],
};

/** The ids of a stored `recentlySettled`. */
export const idsInRing = (ring: string | readonly string[]): string[] =>
  typeof ring === 'string' ? ring.split(/[ .]+/).filter((id) => id !== '') : [...ring];

/** A posting as the expressions need it. Callers' values stand under `$literal` only. @throws where its id has no room in a cell */
function literalPosting(posting: Posting) {
  const { id, at } = posting;
  if (id.length + 2 > cellLength) throw new Error(`${id} is longer than an id of a ledger entry may be`);
  return {
    ...posting,
    minuteStart: new Date(windowStart(at.getTime(), minute)),
    hourStart: new Date(windowStart(at.getTime(), hour)),
  };
}

/** `windowAt`: never backwards. */
function windowNow(window: string, start: string): Expression {
  return {
    start: { $max: [`${window}.start`, start] },
    used: { $cond: [{ $gt: [start, `${window}.start`] }, 0, `${window}.used`] },
  };
}

const hasRoom = (window: string, cap: string): Expression => ({ $lt: [`${window}.used`, cap] });

/** `judge` comes to `admissible`. `$$value` is the state so far, `$$this` the posting. */
const admissible: Expression = {
  $and: [
    { $not: [{ $in: ['$$this.id', '$batch.heldIds'] }] },
    { $not: [isIn('$batch.ring', '$$this.id')] },
    { $lte: [{ $subtract: ['$batch.settled', '$$this.basis'] }, ringSize] },
    {
      $lt: [
        { $add: ['$batch.kept', { $size: '$$value.added' }] },
        { $cond: ['$$this.counted', largestChargeCount, largestHoldCount] },
      ],
    },
    {
      $or: [
        { $not: ['$$this.counted'] },
        { $and: [hasRoom('$$hour', '$caps.perHour'), hasRoom('$$minute', '$caps.perMinute')] },
      ],
    },
    { $or: [{ $gte: ['$$this.amount', 0] }, { $gte: [{ $add: ['$$value.balance', '$$this.amount'] }, 0] }] },
  ],
};

const counted = (window: string, before: string): Expression => ({
  $cond: ['$$this.counted', { start: `${window}.start`, used: { $add: [`${window}.used`, 1] } }, before],
});

/** `admit`. */
const admitted: Expression = {
  balance: '$$balance',
  seq: '$$seq',
  minute: counted('$$minute', '$$value.minute'),
  hour: counted('$$hour', '$$value.hour'),
  added: {
    $concatArrays: [
      '$$value.added',
      [
        {
          id: '$$this.id',
          kind: '$$this.kind',
          amount: { $toLong: '$$this.amount' },
          seq: '$$seq',
          balanceAfter: '$$balance',
          at: '$$this.at',
          deadline: '$$this.deadline',
          memo: '$$this.memo',
        },
      ],
    ],
  },
};

const step: Expression = {
  $let: {
    vars: {
      balance: { $add: ['$$value.balance', { $toLong: '$$this.amount' }] },
      seq: { $add: ['$$value.seq', { $toLong: 1 }] },
      minute: windowNow('$$value.minute', '$$this.minuteStart'),
      hour: windowNow('$$value.hour', '$$this.hourStart'),
    },
    in: { $cond: [admissible, admitted, '$$value'] },
  },
};

/** The pipeline for `updateOne` or `updateMany`: every matched wallet finds its own batch in the literal list. */
export function walletPipeline(batches: readonly WalletBatch[]): Expression[] {
  const own = ofEachWallet(
    batches,
    ({ settled, postings }) => ({ release: settled, postings: postings.map(literalPosting) }),
    { release: [], postings: [] },
  );
  const unlessMoved = (unmoved: string, moved: Expression): Expression => ({
    $cond: [{ $eq: ['$batch.moved', []] }, unmoved, moved],
  });

  return [
    { $set: { batch: own } },
    {
      $set: {
        'batch.moved': { $setIntersection: ['$holds.id', '$batch.release'] },
        'batch.ring': storedRing,
      },
    },
    {
      $set: {
        'batch.keptHolds': unlessMoved('$holds', {
          $filter: { input: '$holds', cond: { $not: [{ $in: ['$$this.id', '$batch.moved'] }] } },
        }),
        'batch.ring': unlessMoved('$batch.ring', ringWithMoved),
        'batch.settled': { $add: ['$settled', { $toLong: { $size: '$batch.moved' } }] },
      },
    },
    { $set: { 'batch.kept': { $size: '$batch.keptHolds' }, 'batch.heldIds': '$batch.keptHolds.id' } },
    {
      $set: {
        'batch.next': {
          $reduce: {
            input: '$batch.postings',
            initialValue: { balance: '$balance', seq: '$seq', minute: '$minute', hour: '$hour', added: [] },
            in: step,
          },
        },
      },
    },
    {
      $set: {
        balance: '$batch.next.balance',
        seq: '$batch.next.seq',
        settled: '$batch.settled',
        minute: '$batch.next.minute',
        hour: '$batch.next.hour',
        holds: { $concatArrays: ['$batch.keptHolds', '$batch.next.added'] },
        recentlySettled: '$batch.ring',
      },
    },
    { $unset: 'batch' },
  ];
}

/** Moved ids in the order of their holds, as the model keeps them: `$setIntersection` promises no order. */
const inOrderOfHolds: Expression = {
  $filter: { input: '$holds.id', as: 'id', cond: { $in: ['$$id', '$batch.moved'] } },
};

/** The newest cells. */
const ringWithMoved: Expression = {
  $let: {
    vars: { all: { $concat: ['$batch.ring', cellsOf(inOrderOfHolds)] } },
    in: {
      $substrBytes: [
        '$$all',
        { $max: [0, { $subtract: [{ $strLenBytes: '$$all' }, ringSize * cellLength] }] },
        -1,
      ],
    },
  },
};

/** The projection with what the verdicts on a batch need: never the whole document crosses the wire. */
export function walletView(batches: readonly WalletBatch[]): Expression {
  const ids = ofEachWallet(batches, ({ postings }) => postings.map(({ id }) => id), []);
  const notHeld = { $setDifference: [ids, '$holds.id'] };
  return {
    balance: 1,
    seq: 1,
    settled: 1,
    minute: 1,
    hour: 1,
    caps: 1,
    holdCount: { $size: '$holds' },
    holds: { $filter: { input: '$holds', cond: { $in: ['$$this.id', ids] } } },
    recentlySettled: {
      $filter: { input: notHeld, cond: isIn('$recentlySettled', '$$this') },
    },
  };
}

/**
 * What a wallet finds of its own batch, by position in a constant array, which the database looks up in a table: a
 * filter would go through it for every wallet. One that has no batch has position -1, the last: `nothing`.
 */
function ofEachWallet<Own>(
  batches: readonly WalletBatch[],
  own: (batch: WalletBatch) => Own,
  nothing: Own,
): Expression {
  const all = batches.map(own);
  if (all.length === 1) return { $literal: all[0] };
  const position = { $indexOfArray: [{ $literal: batches.map(({ walletId }) => walletId) }, '$_id'] };
  return { $arrayElemAt: [{ $literal: [...all, nothing] }, position] };
}
