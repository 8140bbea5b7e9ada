import type { FindSecret } from '../../contracts/admin/secrets.ts';
import type { FoundSecret } from '../admin/secrets.ts';
import { type ApiKey, sealedFields as webhookSecrets } from '../partners/key-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/connect.ts';
import { sameText, sha256 } from '../platform/ids.ts';
import { findSealed, type SealedField } from '../platform/keys/sealed-values.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import { sealedFields as integrationSecrets } from '../storefront/integration-store.ts';
import type { Stores } from './stores.ts';

interface Dependencies {
  db: Database['db'];
  stores: Pick<Stores, 'partners' | 'storefront' | 'admin'>;
  sealing: Pick<Sealing, 'open'>;
  clock: Pick<Clock, 'now'>;
}

/** Reasons for which a secret does not work now. `forever`: it cannot work again. */
type Fault = { text: string; forever: boolean } | undefined;

const passing = (isFault: boolean, text: string): Fault => (isFault ? { text, forever: false } : undefined);
const forever = (isFault: boolean, text: string): Fault => (isFault ? { text, forever: true } : undefined);

const revoked = ({ status }: Pick<ApiKey, 'status'>): Fault =>
  forever(status === 'revoked', 'the API key is revoked');

/** Whose a secret is, by its hash: what the stores of all features say. */
export function createSecretOwners({ db, stores, sealing, clock }: Dependencies) {
  const { partners, keys, clients } = stores.partners;
  const { integrations } = stores.storefront;

  const sealedWith = (fields: readonly SealedField[], hash: string) =>
    findSealed(db, fields, { sealing, matches: (value) => sameText(sha256(value), hash) });

  /** The secret with its owner's partner; the first fault is the one that is named. */
  async function ofPartner(
    owner: { _id: string; partnerId: string; mode: FoundSecret['mode'] },
    { expiresAt, faults }: { expiresAt?: Date | undefined; faults: readonly Fault[] },
  ): Promise<FoundSecret> {
    const partner = await partners.find(owner.partnerId);
    const isServed = partner?.status === 'active';
    const all = [...faults, passing(!isServed, `the partner is ${partner?.status ?? 'unknown'}`)];
    const found = all.filter((fault) => fault !== undefined);
    return {
      id: owner._id,
      partnerId: owner.partnerId,
      partnerName: partner?.name ?? null,
      mode: owner.mode,
      inactive: found[0]?.text,
      ended: found.some((fault) => fault.forever),
      expiresAt,
    };
  }

  async function ofClient(hash: string): Promise<FoundSecret | undefined> {
    const client = await clients.findBySecretHash(hash);
    if (!client) return undefined;
    const expiresAt = client.secrets.find((secret) => secret.hash === hash)?.expiresAt;
    const key = await keys.find(client.keyId);
    const isOver = expiresAt !== undefined && expiresAt.getTime() <= clock.now();
    return ofPartner(client, {
      expiresAt,
      faults: [
        forever(isOver, 'the secret was rotated, and has expired'),
        passing(client.status !== 'active', 'the client is disabled'),
        passing(key?.status !== 'active', 'the API key of the client is revoked'),
      ],
    });
  }

  async function ofOperator(hash: string): Promise<FoundSecret | undefined> {
    const operator = await stores.admin.operators.findByHash(hash);
    if (!operator) return undefined;
    const { _id: id, status, expiresAt } = operator;
    const isOver = expiresAt !== undefined && expiresAt.getTime() <= clock.now();
    const fault =
      forever(status !== 'active', 'the operator is revoked') ?? forever(isOver, 'the token has expired');
    const nowhere = { partnerId: null, partnerName: null, mode: null };
    return { id, ...nowhere, inactive: fault?.text, ended: fault !== undefined, expiresAt };
  }

  async function ofIntegration(hash: string): Promise<FoundSecret | undefined> {
    const id = await sealedWith(integrationSecrets, hash);
    const integration = id === undefined ? undefined : await integrations.find(id);
    if (!integration) return undefined;
    const fault = forever(integration.status !== 'active', 'the integration is disabled');
    return ofPartner(integration, { faults: [fault] });
  }

  async function ofKey(key: ApiKey | undefined): Promise<FoundSecret | undefined> {
    return key && ofPartner(key, { faults: [revoked(key)] });
  }

  async function ofEndpoint(hash: string): Promise<FoundSecret | undefined> {
    const id = await sealedWith(webhookSecrets, hash);
    return ofKey(id === undefined ? undefined : await keys.find(id));
  }

  /** @returns undefined for a secret that nothing has now */
  return async function find({ kind, hash }: FindSecret): Promise<FoundSecret | undefined> {
    switch (kind) {
      case 'testKey':
      case 'liveKey':
        return ofKey((await keys.findByHashes([hash]))[0]);
      case 'clientSecret':
        return ofClient(hash);
      case 'webhookSecret':
        return ofEndpoint(hash);
      case 'integrationSecret':
        return ofIntegration(hash);
      case 'operatorToken':
        return ofOperator(hash);
    }
  };
}
