import type { Db } from 'mongodb';
import { type Contender, tokenRequest } from '../contenders/contender.ts';
import { insertCodes } from '../contenders/our-codes.ts';
import type { Owner } from '../contenders/our-partners.ts';
import type { Load, LoadRequest, LoadResult, Order } from '../load/load.ts';
import { pause } from '../processes.ts';
import type { Granted } from './charges.ts';
import { capPerMinute, type Noisy } from './partners.ts';

/** The load beside the quiet partner. */
export interface Noise {
  from: Noisy;
  /** The request rate; by default as fast as callers get answers. */
  perSecond?: number | undefined;
}

export interface Traffic {
  seconds: number;
  /** Exchanges of the quiet partner. */
  perSecond: number;
  noise?: Noise | undefined;
}

/** The noisy partner's requests with 200 and 429, and the seconds of its load. */
export interface Answers {
  granted: number;
  refused: number;
  seconds: number;
}

export interface Pass {
  quiet: LoadResult;
  noisy: Answers | undefined;
}

/** The callers of each partner. */
export const callers = 16;
/** Seconds by which the noisy partner starts earlier and ends later than the quiet one. */
const margin = 0.3;

interface Settings {
  db: Db;
  contender: Contender;
  quiet: Owner;
  /** A separate process each, so that one partner's requests do not delay the other's. */
  loads: { quiet: Load; noisy: Load };
}

/** Sends the quiet partner's exchanges, alone or beside a partner at its cap. */
export function createPasses({ db, contender, quiet, loads }: Settings) {
  const { origins, tokenPath: path } = contender;
  const granted = new Map<Owner, number>();
  let unsettled = 0;

  async function requestsOf(owner: Owner, count: number): Promise<LoadRequest[]> {
    const codes = await insertCodes(db, { count, owners: [owner] });
    return codes.map(({ code }) => tokenRequest(owner, code));
  }

  async function send(load: Load, owner: Owner, order: Omit<Order, 'origins' | 'path' | 'callers'>) {
    const result = await load.run({ origins, path, callers, ...order });
    const answered = result.statuses['200'] ?? 0;
    granted.set(owner, (granted.get(owner) ?? 0) + answered);
    unsettled += answered;
    return result;
  }

  /** Reaches the cap at once, so that nearly all requests beside the quiet partner are refused. */
  async function reachCap({ owner, refusal }: Noisy): Promise<void> {
    await send(loads.noisy, owner, { requests: await requestsOf(owner, capPerMinute), refusal });
  }

  async function makeNoise(noise: Noise, requests: LoadRequest[], forSeconds: number): Promise<Answers> {
    const { owner, refusal } = noise.from;
    const order = { requests, refusal, perSecond: noise.perSecond, forSeconds };
    const { statuses, seconds } = await send(loads.noisy, owner, order);
    return { granted: statuses['200'] ?? 0, refused: statuses['429'] ?? 0, seconds };
  }

  return {
    granted: granted as Granted,

    async run({ seconds, perSecond, noise }: Traffic): Promise<Pass> {
      const requests = await requestsOf(quiet, Math.round(seconds * perSecond));
      // A pass spans two minutes at most. All other requests are refused and sent again.
      const spare = noise ? await requestsOf(noise.from.owner, callers + 2 * capPerMinute) : [];
      if (noise) await reachCap(noise.from);
      const [noisy, result] = await Promise.all([
        noise && makeNoise(noise, spare, seconds + 2 * margin),
        pause(margin * 1000).then(() => send(loads.quiet, quiet, { requests, perSecond })),
      ]);
      return { quiet: result, noisy };
    },

    /** @throws if the server's ledger differs from its answers */
    async settle(): Promise<void> {
      await contender.settle(unsettled);
      unsettled = 0;
    },
  };
}
