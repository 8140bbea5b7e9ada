import type { SetEndpoint, SetNotices, SwitchSecret } from '../../contracts/admin/keys.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { Clock } from '../platform/clock.ts';
import type { Actor } from '../platform/database/audit-entry.ts';
import { createAuditedChange } from '../platform/database/audited-change.ts';
import { ApiError } from '../platform/errors.ts';
import { randomSecret } from '../platform/ids.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import { type ApiKey, type KeyStore, pauseAt } from './key-store.ts';
import { assertActive } from './keys.ts';

interface Dependencies {
  store: Pick<KeyStore, 'change'>;
  sealing: Pick<Sealing, 'seal'>;
  clock: Pick<Clock, 'now'>;
  /** Returns why events may not be sent to `url` for a key of this mode; undefined if they may. */
  checkWebhookUrl: (url: string, mode: Mode) => string | undefined;
}

/** The longest pause, in milliseconds. It is much shorter than the 30 days of a delivery, so that none expires meanwhile. */
export const longestPauseMs = 7 * 24 * 3_600_000;

/** A key and the new signing secret of its endpoint. The secret cannot be read again. */
export interface FreshEndpoint {
  key: ApiKey;
  signingSecret: string;
}

const missingUrlError = (keyId: string) =>
  new ApiError('conflict', { description: `API key ${keyId} has no webhook URL, and no signing secret` });

function preparedSecretError(keyId: string, last4: string, preparedLast4: string | undefined): ApiError {
  const reason =
    preparedLast4 === undefined ? 'none is prepared' : `the prepared one ends in ${preparedLast4}`;
  return new ApiError('conflict', {
    description: `API key ${keyId} has no prepared signing secret that ends in ${last4}: ${reason}`,
  });
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/** Manages the webhook endpoints of API keys (interface 5.5). The methods throw ApiError. */
export function createEndpoints({ store, sealing, clock, checkWebhookUrl }: Dependencies) {
  const change = createAuditedChange(store, clock);

  /** Makes a signing secret, and the fields to store for it. */
  async function newSigningSecret() {
    const signingSecret = randomSecret('webhookSecret');
    const stored = { sealedSecret: await sealing.seal(signingSecret), last4: signingSecret.slice(-4) };
    return { signingSecret, stored };
  }

  /**
   * Replaces the signing secret, and drops a prepared one. Without `newUrl`, the URL stays the same.
   * The secrets of a key are numbered. `webhookSecrets` is the last number, and is kept when the URL is removed.
   */
  async function replaceSecret(
    keyId: string,
    newUrl: string | undefined,
    actor: Actor,
  ): Promise<FreshEndpoint> {
    const { signingSecret, stored } = await newSigningSecret();
    const key = await change(keyId, actor, (current, now) => {
      assertActive(current);
      if (newUrl !== undefined) assertUrl(newUrl, current.mode);
      const { webhook, webhookSecrets } = current;
      const url = newUrl ?? webhook?.url;
      if (url === undefined) throw missingUrlError(keyId);
      const secretVersion = webhookSecrets + 1;
      const at = new Date(now);
      return {
        set: {
          webhook: { url, ...stored, secretVersion, secretAt: at, setAt: at },
          webhookSecrets: secretVersion,
        },
        before: { url: webhook?.url ?? null, secretVersion: webhookSecrets, last4: webhook?.last4 },
        after: { url, secretVersion },
      };
    });
    return { key, signingSecret };
  }

  function assertUrl(url: string, mode: Mode): void {
    const fault = checkWebhookUrl(url, mode);
    if (fault) throw new ApiError('refused', { description: fault });
  }

  return {
    /** @throws ApiError `refused` if events of this mode may not be sent to the URL */
    assertUrl,

    /** Saves a URL and makes a new signing secret, even if the URL is the same as before. */
    set: ({ keyId, url }: SetEndpoint, actor: Actor): Promise<FreshEndpoint> =>
      replaceSecret(keyId, url, actor),

    /** The old secret and a prepared secret become invalid immediately, also for scheduled attempts. */
    rotateSecret: (keyId: string, actor: Actor): Promise<FreshEndpoint> =>
      replaceSecret(keyId, undefined, actor),

    /**
     * Prepares the next signing secret. It signs nothing yet, so that a receiver can be set up to accept it. An earlier prepared
     * secret is dropped.
     */
    async prepareSecret(keyId: string, actor: Actor): Promise<FreshEndpoint> {
      const { signingSecret, stored } = await newSigningSecret();
      const key = await change(keyId, actor, (current, now) => {
        assertActive(current);
        const { webhook } = current;
        if (!webhook) throw missingUrlError(keyId);
        return {
          set: { webhook: { ...webhook, next: { ...stored, preparedAt: new Date(now) } } },
          before: { prepared: webhook.next?.last4 ?? null },
          after: { prepared: stored.last4 },
        };
      });
      return { key, signingSecret };
    },

    /**
     * Signs with the prepared secret from now on. The previous secret becomes invalid immediately (interface 5.5, rule 5).
     * @param last4 the last characters of the prepared secret that the caller means, in case another one was prepared meanwhile
     */
    switchSecret: ({ keyId, last4 }: SwitchSecret, actor: Actor): Promise<ApiKey> =>
      change(keyId, actor, (current, now) => {
        assertActive(current);
        const { webhook, webhookSecrets } = current;
        if (!webhook) throw missingUrlError(keyId);
        const { url, setAt, next: prepared } = webhook;
        // An earlier call made this switch. Its response may have been lost, so this call succeeds too.
        if (!prepared && webhook.last4 === last4) return undefined;
        if (prepared?.last4 !== last4) throw preparedSecretError(keyId, last4, prepared?.last4);
        const { sealedSecret } = prepared;
        const secretVersion = webhookSecrets + 1;
        return {
          set: {
            // Without `next` and `lastUsedAt`: no secret is prepared now, and the new secret was never used.
            webhook: { url, setAt, sealedSecret, secretVersion, last4, secretAt: new Date(now) },
            webhookSecrets: secretVersion,
          },
          before: { secretVersion: webhookSecrets, last4: webhook.last4 },
          after: { secretVersion, last4 },
        };
      }),

    /** Changes the URL and keeps the signing secret. @throws ApiError `conflict` if the key has no URL */
    changeUrl: ({ keyId, url }: SetEndpoint, actor: Actor): Promise<ApiKey> =>
      change(keyId, actor, (current, now) => {
        assertActive(current);
        assertUrl(url, current.mode);
        const { webhook } = current;
        if (!webhook) throw missingUrlError(keyId);
        if (webhook.url === url) return undefined;
        const changed = { ...webhook, url, setAt: new Date(now) };
        return { set: { webhook: changed }, before: { url: webhook.url }, after: { url } };
      }),

    /**
     * Makes the events of a key wait until a time. A new time replaces an earlier one.
     * @throws ApiError `refused` if the time has passed or is more than 7 days ahead
     */
    pause({ keyId, until }: { keyId: string; until: Date }, actor: Actor): Promise<ApiKey> {
      const lengthMs = until.getTime() - clock.now();
      if (lengthMs <= 0 || lengthMs > longestPauseMs)
        throw new ApiError('refused', {
          description: `${until.toISOString()} is not within the next 7 days; deliveries are kept for 30 days`,
        });
      return change(keyId, actor, (current, now) => {
        assertActive(current);
        const pause = pauseAt(now, current);
        if (pause?.until.getTime() === until.getTime()) return undefined;
        return {
          set: { pause: { until } },
          before: { pausedUntil: pause?.until ?? null },
          after: { pausedUntil: until },
        };
      });
    },

    /** Sets whether the key's URL receives notices besides the events of the contract. */
    setNotices: ({ keyId, notices }: SetNotices, actor: Actor): Promise<ApiKey> =>
      change(keyId, actor, (current) => {
        assertActive(current);
        if ((current.notices ?? false) === notices) return undefined;
        // Only true is stored.
        return { set: { notices: notices || undefined }, before: { notices: !notices }, after: { notices } };
      }),

    /** Ends a pause. The waiting events can then be sent. */
    resume: (keyId: string, actor: Actor): Promise<ApiKey> =>
      change(keyId, actor, ({ pause }) => {
        if (!pause) return undefined;
        return {
          set: { pause: undefined },
          before: { pausedUntil: pause.until },
          after: { pausedUntil: null },
        };
      }),

    /** Removes the URL and the signing secret. */
    unset: (keyId: string, actor: Actor): Promise<ApiKey> =>
      change(keyId, actor, ({ webhook, webhookSecrets: secretVersion }) => {
        if (!webhook) return undefined;
        return {
          set: { webhook: undefined },
          before: { url: webhook.url, secretVersion, last4: webhook.last4 },
          after: { url: null, secretVersion },
        };
      }),
  };
}
