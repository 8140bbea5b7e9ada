import type { SetEndpoint, SetNotices, SwitchSecret } from '../../contracts/admin/keys.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { Clock } from '../platform/clock.ts';
import { type Actor, auditEntry } from '../platform/database/audit-entry.ts';
import { ApiError } from '../platform/errors.ts';
import { randomSecret } from '../platform/ids.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import type { ApiKey, KeyStore } from './key-store.ts';
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

/** A key and the new signing secret of its endpoint. The secret is shown only once. */
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
  /** Makes a signing secret, and the fields to store for it. */
  async function newSigningSecret() {
    const signingSecret = randomSecret('webhookSecret');
    return {
      signingSecret,
      stored: { sealedSecret: await sealing.seal(signingSecret), last4: signingSecret.slice(-4) },
    };
  }

  /**
   * Makes a new signing secret the only one. Keeps the present URL if none is given. The secrets of a key are numbered:
   * `webhookSecrets` is the number of the last one, and goes on after the URL was removed.
   */
  async function saveWithNewSecret(
    { keyId, url: newUrl }: { keyId: string; url?: string },
    actor: Actor,
  ): Promise<FreshEndpoint> {
    const { signingSecret, stored } = await newSigningSecret();
    const key = await store.change(keyId, (current) => {
      assertActive(current);
      if (newUrl !== undefined) assertUrl(newUrl, current.mode);
      const { webhook, webhookSecrets } = current;
      const url = newUrl ?? webhook?.url;
      if (url === undefined) throw missingUrlError(keyId);
      const at = clock.now();
      const secretVersion = webhookSecrets + 1;
      const before = { url: webhook?.url ?? null, secretVersion: webhookSecrets, last4: webhook?.last4 };
      return {
        set: {
          webhook: { url, ...stored, secretVersion, secretAt: new Date(at), setAt: new Date(at) },
          webhookSecrets: secretVersion,
        },
        entry: auditEntry(actor, { id: keyId, at }, { before, after: { url, secretVersion } }),
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
      saveWithNewSecret({ keyId, url }, actor),

    /** Replaces the signing secret. The old secret and a prepared secret become invalid immediately, also for scheduled attempts. */
    rotateSecret: (keyId: string, actor: Actor): Promise<FreshEndpoint> =>
      saveWithNewSecret({ keyId }, actor),

    /**
     * Prepares the next signing secret. It signs nothing yet, so that a receiver can be set up to accept it. An earlier prepared
     * secret is dropped.
     */
    async prepareSecret(keyId: string, actor: Actor): Promise<FreshEndpoint> {
      const { signingSecret, stored } = await newSigningSecret();
      const key = await store.change(keyId, (current) => {
        assertActive(current);
        const { webhook } = current;
        if (!webhook) throw missingUrlError(keyId);
        const at = clock.now();
        const next = { ...stored, preparedAt: new Date(at) };
        const difference = {
          before: { prepared: webhook.next?.last4 ?? null },
          after: { prepared: stored.last4 },
        };
        return {
          set: { webhook: { ...webhook, next } },
          entry: auditEntry(actor, { id: keyId, at }, difference),
        };
      });
      return { key, signingSecret };
    },

    /**
     * Signs with the prepared secret from now on. The previous secret becomes invalid immediately (interface 5.5, rule 5).
     * @param last4 the last characters of the prepared secret that the caller means, in case another one was prepared meanwhile
     */
    switchSecret({ keyId, last4 }: SwitchSecret, actor: Actor): Promise<ApiKey> {
      return store.change(keyId, (current) => {
        assertActive(current);
        const { webhook, webhookSecrets } = current;
        if (!webhook) throw missingUrlError(keyId);
        // The fields `next` and `lastUsedAt` belong to the old state, and are dropped.
        const { next, lastUsedAt: _lastUsedAt, ...rest } = webhook;
        // An earlier call made this switch. Its response may have been lost, so this call succeeds too.
        if (!next && webhook.last4 === last4) return undefined;
        if (next?.last4 !== last4) throw preparedSecretError(keyId, last4, next?.last4);
        const { sealedSecret } = next;
        const at = clock.now();
        const secretVersion = webhookSecrets + 1;
        const difference = {
          before: { secretVersion: webhookSecrets, last4: webhook.last4 },
          after: { secretVersion, last4 },
        };
        return {
          set: {
            webhook: { ...rest, sealedSecret, secretVersion, last4, secretAt: new Date(at) },
            webhookSecrets: secretVersion,
          },
          entry: auditEntry(actor, { id: keyId, at }, difference),
        };
      });
    },

    /** Changes the URL and keeps the signing secret. @throws ApiError `conflict` if the key has no URL */
    changeUrl({ keyId, url }: SetEndpoint, actor: Actor): Promise<ApiKey> {
      return store.change(keyId, (current) => {
        assertActive(current);
        assertUrl(url, current.mode);
        const { webhook } = current;
        if (!webhook) throw missingUrlError(keyId);
        if (webhook.url === url) return undefined;
        const at = clock.now();
        const difference = { before: { url: webhook.url }, after: { url } };
        return {
          set: { webhook: { ...webhook, url, setAt: new Date(at) } },
          entry: auditEntry(actor, { id: keyId, at }, difference),
        };
      });
    },

    /**
     * Makes the events of a key wait until a time. A new time replaces an earlier one.
     * @throws ApiError `refused` if the time has passed or is more than 7 days ahead
     */
    pause({ keyId, until }: { keyId: string; until: Date }, actor: Actor): Promise<ApiKey> {
      const at = clock.now();
      const lengthMs = until.getTime() - at;
      if (lengthMs <= 0 || lengthMs > longestPauseMs)
        throw new ApiError('refused', {
          description: `${until.toISOString()} is not within the next 7 days; deliveries are kept for 30 days`,
        });
      return store.change(keyId, (current) => {
        assertActive(current);
        const { pause } = current;
        if (pause?.until.getTime() === until.getTime()) return undefined;
        // A pause that has ended may still be stored.
        const before = pause && pause.until.getTime() > at ? pause.until : null;
        const difference = { before: { pausedUntil: before }, after: { pausedUntil: until } };
        return {
          set: { pause: { until } },
          entry: auditEntry(actor, { id: keyId, at }, difference),
        };
      });
    },

    /** Sets whether the key's URL receives notices besides the events of the contract. */
    setNotices({ keyId, notices }: SetNotices, actor: Actor): Promise<ApiKey> {
      return store.change(keyId, (current) => {
        assertActive(current);
        if ((current.notices ?? false) === notices) return undefined;
        const difference = { before: { notices: !notices }, after: { notices } };
        return {
          set: { notices: notices ? (true as const) : undefined },
          entry: auditEntry(actor, { id: keyId, at: clock.now() }, difference),
        };
      });
    },

    /** Ends a pause. The waiting events can then be sent. */
    resume(keyId: string, actor: Actor): Promise<ApiKey> {
      return store.change(keyId, ({ pause }) => {
        const at = clock.now();
        if (!pause) return undefined;
        const difference = { before: { pausedUntil: pause.until }, after: { pausedUntil: null } };
        return { set: { pause: undefined }, entry: auditEntry(actor, { id: keyId, at }, difference) };
      });
    },

    /** Removes the URL and the signing secret. */
    unset(keyId: string, actor: Actor): Promise<ApiKey> {
      return store.change(keyId, ({ webhook, webhookSecrets }) => {
        if (!webhook) return undefined;
        const difference = {
          before: { url: webhook.url, secretVersion: webhookSecrets, last4: webhook.last4 },
          after: { url: null, secretVersion: webhookSecrets },
        };
        return {
          set: { webhook: undefined },
          entry: auditEntry(actor, { id: keyId, at: clock.now() }, difference),
        };
      });
    },
  };
}
