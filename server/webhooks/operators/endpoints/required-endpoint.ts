import { ApiError } from '../../../platform/errors.ts';
import type { OperatorsContext } from '../../context.ts';
import { isOtherHost } from '../../delivery/delivery.ts';
import type { OffReason, WhyOff } from '../../delivery/endpoint.ts';

const offReasons: Record<OffReason, string> = {
  no_url: 'has no webhook URL, and so no secret to sign with; set one with: svcadmin webhooks set',
  key_revoked: 'is revoked',
  partner_suspended: 'belongs to a suspended partner',
  partner_closed: 'belongs to a closed partner',
};

const refusalOf = (keyId: string, reason: OffReason): ApiError =>
  new ApiError('conflict', { description: `API key ${keyId} ${offReasons[reason]}` });

/**
 * Refuses to send events again if every one of them would be skipped.
 * @throws ApiError `conflict` if nothing is sent to any of the keys
 */
export async function requireSomeEndpoint(keyIds: readonly string[], whyOff: WhyOff): Promise<void> {
  let refusal: ApiError | undefined;
  for (const keyId of keyIds) {
    const reason = await whyOff(keyId);
    if (!reason) return;
    refusal ??= refusalOf(keyId, reason);
  }
  if (refusal) throw refusal;
}

/**
 * Returns a function that reads the URL and the secret of a key. It throws ApiError `not_found` for an unknown key, and `conflict` if
 * the key has none, or may not be served.
 */
export function createRequireEndpoint({ endpoint, requireKey }: OperatorsContext) {
  return async (keyId: string) => {
    const current = await endpoint(keyId);
    if (current.state === 'on') return current;
    await requireKey(keyId);
    throw refusalOf(keyId, current.reason);
  };
}

/**
 * Returns a function that checks whether events of keys may go to another URL. It throws ApiError `refused` if they may not, and
 * `conflict` for a key without an endpoint.
 */
export function createRequireOtherUrl(context: OperatorsContext) {
  const requireEndpoint = createRequireEndpoint(context);
  return async (to: string, keyIds: readonly string[]): Promise<void> => {
    for (const keyId of new Set(keyIds)) {
      const endpoint = await requireEndpoint(keyId);
      const fault = context.urlFault(to, endpoint.mode);
      if (fault !== undefined) throw new ApiError('refused', { description: fault });
      if (!isOtherHost(to, endpoint)) continue;
      const { host } = new URL(endpoint.url);
      const description = `Events of the live key ${keyId} go to ${host} only, the host of its webhook URL`;
      throw new ApiError('refused', { description });
    }
  };
}
