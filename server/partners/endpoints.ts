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

/** The longest pause, in milliseconds. Deliveries are kept for 30 days, and must not expire during a pause. */
export const longestPauseMs = 7 * 24 * 3_600_000;

/** A key and the new signing secret of its endpoint. The secret is shown only once. */
export interface FreshEndpoint {
  key: ApiKey;
  signingSecret: string;
}

const missingUrl = (keyId: string) =>
  new ApiError('conflict', { description: `API key ${keyId} has no webhook URL, and no signing secret` });

function missingPreparedSecret(keyId: string, last4: string, prepared: string | undefined): ApiError {
  const present = prepared === undefined ? 'none is prepared' : `the prepared one ends in ${prepared}`;
  return new ApiError('conflict', {
    description: `API key ${keyId} has no prepared signing secret that ends in ${last4}: ${present}`,
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

  /** Makes a new signing secret the only one, with the next version. Keeps the present URL if none is given. */
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
      if (url === undefined) throw missingUrl(keyId);
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
        if (!webhook) throw missingUrl(keyId);
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

    /** Signs with the prepared secret from now on. The previous secret becomes invalid immediately (interface 5.5, rule 5). */
    switchSecret({ keyId, last4 }: SwitchSecret, actor: Actor): Promise<ApiKey> {
      return store.change(keyId, (current) => {
        assertActive(current);
        const { webhook, webhookSecrets } = current;
        if (!webhook) throw missingUrl(keyId);
        if (webhook.next?.last4 !== last4) {
          // An earlier call made this switch. Its response may have been lost, so this call succeeds too.
          if (!webhook.next && webhook.last4 === last4) return undefined;
          throw missingPreparedSecret(keyId, last4, webhook.next?.last4);
        }
        const { next, lastUsedAt: _lastUsedAt, ...rest } = webhook;
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
        if (!webhook) throw missingUrl(keyId);
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
      const ahead = until.getTime() - at;
      if (ahead <= 0 || ahead > longestPauseMs)
        throw new ApiError('refused', {
          description: `${until.toISOString()} is not within the next 7 days; deliveries are kept for 30 days`,
        });
      return store.change(keyId, (current) => {
        assertActive(current);
        const isPaused = current.pause !== undefined && current.pause.until.getTime() > at;
        const earlier = isPaused ? current.pause : undefined;
        if (earlier?.until.getTime() === until.getTime()) return undefined;
        const difference = { before: { pausedUntil: earlier?.until ?? null }, after: { pausedUntil: until } };
        return {
          set: { pause: { since: earlier?.since ?? new Date(at), until } },
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
