import type { Db } from 'mongodb';
import { type Contender, tokenRequest } from '../contenders/contender.ts';
import { insertCodes } from '../contenders/our-codes.ts';
import type { Owner } from '../contenders/our-partners.ts';
import type { Load, LoadRequest, LoadResult, Order } from '../load/load.ts';
import { pause } from '../processes.ts';
import type { Granted } from './charges.ts';
import { capPerMinute, type Noisy } from './partners.ts';

/** What the quiet partner is measured beside. */
export interface Noise {
  from: Noisy;
  /** Without it, as fast as its callers are answered. */
  perSecond?: number | undefined;
}

export interface Traffic {
  seconds: number;
  /** Exchanges of the quiet partner. */
  perSecond: number;
  noise?: Noise | undefined;
}

/** The noisy partner's requests, answered 200 and 429, and how long it sent them. */
export interface Answers {
  granted: number;
  refused: number;
  seconds: number;
}

export interface Pass {
  quiet: LoadResult;
  noisy: Answers | undefined;
}

/** Of either partner. */
export const callers = 16;
/** The noisy partner begins earlier than the quiet one, and ends later: seconds. */
const margin = 0.3;

interface Settings {
  db: Db;
  contender: Contender;
  quiet: Owner;
  /** A process each, so that one partner's requests do not make the other's wait before they are sent. */
  loads: { quiet: Load; noisy: Load };
}

/** Sends the quiet partner's exchanges, alone or beside those of one that is at its cap. */
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

  /** Up to its cap at once, so that hardly any of what is sent beside the quiet partner is granted. */
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
      // A pass touches two minutes at most; the others are refused, and sent again.
      const spare = noise ? await requestsOf(noise.from.owner, callers + 2 * capPerMinute) : [];
      if (noise) await reachCap(noise.from);
      const [noisy, result] = await Promise.all([
        noise && makeNoise(noise, spare, seconds + 2 * margin),
        pause(margin * 1000).then(() => send(loads.quiet, quiet, { requests, perSecond })),
      ]);
      return { quiet: result, noisy };
    },

    /** @throws where the server's books say otherwise than its answers */
    async settle(): Promise<void> {
      await contender.settle(unsettled);
      unsettled = 0;
    },
  };
}
