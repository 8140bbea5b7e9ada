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

/** A posting as the expressions need it. Callers' values stand under `$literal` only. */
const literalPosting = (posting: Posting) => ({
  ...posting,
  minuteStart: new Date(windowStart(posting.at.getTime(), minute)),
  hourStart: new Date(windowStart(posting.at.getTime(), hour)),
});

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
    { $not: [{ $in: ['$$this.id', '$batch.known'] }] },
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
  const literal = batches.map(({ walletId, settled, postings }) => ({
    walletId,
    release: settled,
    postings: postings.map(literalPosting),
    ids: postings.map(({ id }) => id),
  }));
  const own = batches.length === 1 ? { $literal: literal[0] } : pickOwn(literal);

  return [
    { $set: { batch: own } },
    { $set: { 'batch.moved': { $setIntersection: ['$holds.id', '$batch.release'] } } },
    {
      $set: {
        'batch.keptHolds': {
          $cond: [
            { $eq: ['$batch.moved', []] },
            '$holds',
            { $filter: { input: '$holds', cond: { $not: [{ $in: ['$$this.id', '$batch.moved'] }] } } },
          ],
        },
        'batch.ring': {
          $cond: [
            { $eq: ['$batch.moved', []] },
            '$recentlySettled',
            { $slice: [{ $concatArrays: ['$recentlySettled', inOrderOfHolds] }, -ringSize] },
          ],
        },
        'batch.settled': { $add: ['$settled', { $toLong: { $size: '$batch.moved' } }] },
      },
    },
    {
      $set: {
        'batch.kept': { $size: '$batch.keptHolds' },
        'batch.known': {
          $setIntersection: ['$batch.ids', { $concatArrays: ['$batch.keptHolds.id', '$batch.ring'] }],
        },
      },
    },
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

const nothing = { release: [], postings: [], ids: [] };

/**
 * By position in a constant array, which the database looks up in a table; a filter would go through it for every
 * wallet. One that is not in it has position -1, the last: nothing.
 */
function pickOwn(batches: readonly { walletId: string }[]): Expression {
  const ids = batches.map(({ walletId }) => walletId);
  const position = { $indexOfArray: [{ $literal: ids }, '$_id'] };
  return { $arrayElemAt: [{ $literal: [...batches, nothing] }, position] };
}
