import type { FastifyPluginAsync } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type Dispatcher, Pool } from 'undici';
import { monotonicTime } from '../../clock.ts';

/** Handles a message, and returns the response body or an error status. `isClosed`: whether the connection has ended. */
export type Receive = (body: string, isClosed: () => boolean) => Promise<string | 401 | 503>;

const path = '/messages';
const longestBody = 4 * 1_024 * 1_024;
/** Most bodies are smaller. Of larger ones, and of those that do not say their length, only so many are read at a time. */
const largeBody = 256 * 1_024;
const mostLargeBodies = 8;
const mostPeers = 1_000;
/** Two connections for each peer, so that an urgent message does not wait for the response to another. */
const connections = 2;
const keepAliveMs = 30_000;
/** How long a peer may take to confirm that it is alive, in milliseconds. */
const aliveWithinMs = 1_000;
const answerWithinMs = 1_750;
/** How long a peer may take to respond to a probe. No caller waits for a probe, so this limit is longer than that of a posting. */
const probeWithinMs = 2_500;
/** After this time, the receiver confirms that it handles a request, by an interim response with the status 102. */
const confirmAfterMs = 100;

/** The only route of a private listener: messages from other processes of the service. */
export const peerRoutes =
  (receive: Receive): FastifyPluginAsync =>
  async (scope) => {
    scope.removeAllContentTypeParsers();
    const settings = { parseAs: 'string', bodyLimit: longestBody } as const;
    scope.addContentTypeParser('*', settings, async (_: unknown, body: unknown) => body);
    // The sender is known only after its whole body was read, so the memory and time of large bodies are bounded before.
    let largeBodies = 0;
    scope.addHook('onRequest', async ({ headers }, reply) => {
      const length = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
      if (length <= largeBody) return;
      if (largeBodies >= mostLargeBodies) return reply.status(503).send('');
      largeBodies += 1;
      reply.raw.once('close', () => {
        largeBodies -= 1;
      });
    });
    scope.post(path, { logLevel: 'silent' }, async ({ body }, reply) => {
      const confirm = setTimeout(() => reply.raw.writeProcessing(), confirmAfterMs);
      const answer = await receive(String(body), () => reply.raw.destroyed);
      clearTimeout(confirm);
      return typeof answer === 'string' ? reply.send(answer) : reply.status(answer).send('');
    });
  };

/**
 * Sends one message over a pool. `dispatch` of undici costs less than its `request`, which makes a stream and a signal.
 * @param firstWaitMs how long to wait for any sign of the peer
 */
function exchange(pool: Pool, body: string, firstWaitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let request: Dispatcher.DispatchController | undefined;
    let timeout: Error | undefined;
    let status = 0;
    const sentAt = monotonicTime();
    const chunks: Buffer[] = [];
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    function giveUp(): void {
      timeout = new Error('another process does not answer');
      fail(timeout);
      request?.abort(timeout);
    }
    // Node.js runs due timers before it reads input. If this process was slow, the response may have arrived in time. So it
    // is read before the request is given up.
    const giveUpAfter = (ms: number) => setTimeout(() => setImmediate(giveUp), ms);
    let timer = giveUpAfter(firstWaitMs);
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        request = controller;
        // The request has waited for a connection until it was given up.
        if (timeout) controller.abort(timeout);
      },
      onResponseStart(_controller, code) {
        status = code;
        const isInterim = code < 200;
        if (!isInterim) return;
        // The peer has confirmed that it is alive, so it gets the rest of the time for responses.
        clearTimeout(timer);
        timer = giveUpAfter(answerWithinMs - (monotonicTime() - sentAt));
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        if (status !== 200) return fail(new Error(`another process answers ${status}`));
        clearTimeout(timer);
        resolve(Buffer.concat(chunks).toString());
      },
      onResponseError: (_controller, error) => fail(error),
    };
    pool.dispatch({ method: 'POST', path, body }, handler);
  });
}

/** Sends messages to private listeners, over persistent connections. */
export function createPeerLink() {
  const options = {
    connections,
    keepAliveTimeout: keepAliveMs,
    maxResponseSize: longestBody,
    connect: { timeout: probeWithinMs },
  };
  const dispose = (pool: Pool) => void pool.destroy();
  const pools = new LRUCache<string, Pool>({ max: mostPeers, dispose });

  return {
    /**
     * Sends a message. @returns the response body
     * @throws if the peer does not confirm within 1 s or respond within 1.75 s; for a probe, if it does nothing for 2.5 s
     */
    send({ address }: { address: string }, body: string, isProbe = false): Promise<string> {
      const pool = pools.get(address) ?? new Pool(`http://${address}`, options);
      pools.set(address, pool);
      return exchange(pool, body, isProbe ? probeWithinMs : aliveWithinMs);
    },

    close: (): void => pools.clear(),
  };
}
