import {
  EndpointView,
  EndpointWithSecret,
  KeyReference,
  PauseEndpoint,
  SetEndpoint,
  SetNotices,
  SwitchSecret,
} from '../../../contracts/admin/keys.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { createAuditedChange, type Decide } from '../../platform/database/audit/audited-change.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomSecret } from '../../platform/ids.ts';
import type { PartnersContext } from '../context.ts';
import { viewEndpoint } from '../views.ts';
import { assertActive } from './admin-keys.ts';
import { type ApiKey, collection as keyCollection, pauseAt } from './key-store.ts';

const keyMutation = mutation({ target: 'keyId', record: keyCollection });

/** The longest pause, in milliseconds. It is much shorter than the 30 days of a delivery, so that none expires meanwhile. */
export const longestPauseMs = 7 * 24 * 3_600_000;

const missingUrlError = (keyId: string) =>
  new ApiError('conflict', { description: `API key ${keyId} has no webhook URL, and no signing secret` });

function preparedSecretError(keyId: string, last4: string, preparedLast4: string | undefined): ApiError {
  const reason =
    preparedLast4 === undefined ? 'none is prepared' : `the prepared one ends in ${preparedLast4}`;
  return new ApiError('conflict', {
    description: `API key ${keyId} has no prepared signing secret that ends in ${last4}: ${reason}`,
  });
}

/**
 * Makes the procedures of webhook endpoints (interface 5.5). An endpoint is a part of its API key. The feature `webhooks` has the
 * procedures of deliveries.
 */
export function createEndpointProcedures(context: PartnersContext) {
  const { stores, sealing, clock, assertWebhookUrl, onResumed } = context;
  const store = stores.keys;
  const changeKey = createAuditedChange(store, clock);
  const view = (key: ApiKey) => viewEndpoint(key, clock.now());

  const change = async (keyId: string, actor: Actor, decide: Decide<ApiKey>): Promise<EndpointView> =>
    view(await changeKey(keyId, actor, decide));

  async function newSigningSecret() {
    const signingSecret = randomSecret('webhookSecret');
    const stored = { sealedSecret: await sealing.seal(signingSecret), last4: signingSecret.slice(-4) };
    return { signingSecret, stored };
  }

  /**
   * Replaces the signing secret, and drops a prepared one. Without `newUrl`, the URL stays the same.
   * The secrets of a key are numbered. `webhookSecrets` is the last number, and is kept when the URL is removed.
   */
  async function replaceSecret(keyId: string, newUrl: string | undefined, actor: Actor) {
    const { signingSecret, stored } = await newSigningSecret();
    const endpoint = await change(keyId, actor, (current, now) => {
      assertActive(current);
      if (newUrl !== undefined) assertWebhookUrl(newUrl, current.mode);
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
    return { ...endpoint, signingSecret };
  }

  return router({
    show: query(KeyReference, EndpointView, async ({ keyId }) => view(await store.get(keyId))),

    /** Saves a URL and makes a new signing secret, even if the URL is the same as before. */
    set: keyMutation(SetEndpoint, EndpointWithSecret, ({ keyId, url }, actor) =>
      replaceSecret(keyId, url, actor),
    ),

    /** The old secret and a prepared secret become invalid immediately, also for scheduled attempts. */
    rotateSecret: keyMutation(KeyReference, EndpointWithSecret, ({ keyId }, actor) =>
      replaceSecret(keyId, undefined, actor),
    ),

    /**
     * Prepares the next signing secret. It signs nothing yet, so that a receiver can be set up to accept it. An earlier prepared
     * secret is dropped.
     */
    prepareSecret: keyMutation(KeyReference, EndpointWithSecret, async ({ keyId }, actor) => {
      const { signingSecret, stored } = await newSigningSecret();
      const endpoint = await change(keyId, actor, (current, now) => {
        assertActive(current);
        const { webhook } = current;
        if (!webhook) throw missingUrlError(keyId);
        return {
          set: { webhook: { ...webhook, next: { ...stored, preparedAt: new Date(now) } } },
          before: { prepared: webhook.next?.last4 ?? null },
          after: { prepared: stored.last4 },
        };
      });
      return { ...endpoint, signingSecret };
    }),

    /**
     * Signs with the prepared secret from now on. The previous secret becomes invalid immediately (interface 5.5, rule 5).
     * The caller names the prepared secret by `last4`, because another one may have been prepared since.
     */
    switchSecret: keyMutation(SwitchSecret, EndpointView, ({ keyId, last4 }, actor) =>
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
    ),

    /** Changes the URL and keeps the signing secret. @throws ApiError `conflict` if the key has no URL */
    changeUrl: keyMutation(SetEndpoint, EndpointView, ({ keyId, url }, actor) =>
      change(keyId, actor, (current, now) => {
        assertActive(current);
        assertWebhookUrl(url, current.mode);
        const { webhook } = current;
        if (!webhook) throw missingUrlError(keyId);
        if (webhook.url === url) return undefined;
        const changed = { ...webhook, url, setAt: new Date(now) };
        return { set: { webhook: changed }, before: { url: webhook.url }, after: { url } };
      }),
    ),

    /**
     * Makes the events of a key wait until a time. A new time replaces an earlier one.
     * @throws ApiError `refused` if the time has passed or is more than 7 days ahead
     */
    pause: keyMutation(PauseEndpoint, EndpointView, ({ keyId, until: untilText }, actor) => {
      const until = new Date(untilText);
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
    }),

    /** Sets whether the key's URL receives notices besides the events of the contract. */
    setNotices: keyMutation(SetNotices, EndpointView, ({ keyId, notices }, actor) =>
      change(keyId, actor, (current) => {
        assertActive(current);
        if ((current.notices ?? false) === notices) return undefined;
        // Only true is stored.
        return {
          set: { notices: notices || undefined },
          before: { notices: !notices },
          after: { notices },
        };
      }),
    ),

    /** Ends a pause. The waiting events can then be sent. */
    resume: keyMutation(KeyReference, EndpointView, async ({ keyId }, actor) => {
      const endpoint = await change(keyId, actor, ({ pause }) => {
        if (!pause) return undefined;
        return {
          set: { pause: undefined },
          before: { pausedUntil: pause.until },
          after: { pausedUntil: null },
        };
      });
      await onResumed(keyId);
      return endpoint;
    }),

    /** Removes the URL and the signing secret. */
    unset: keyMutation(KeyReference, EndpointView, ({ keyId }, actor) =>
      change(keyId, actor, ({ webhook, webhookSecrets: secretVersion }) => {
        if (!webhook) return undefined;
        return {
          set: { webhook: undefined },
          before: { url: webhook.url, secretVersion, last4: webhook.last4 },
          after: { url: null, secretVersion },
        };
      }),
    ),
  });
}
