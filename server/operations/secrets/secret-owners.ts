import type { FindSecret, SecretOwner } from '../../../contracts/admin/secrets.ts';
import { sealedOldSecret, sealedSecret } from '../../partners/integrations/integration-store.ts';
import { type ApiKey, sealedPreparedSecret, sealedSigningSecret } from '../../partners/keys/key-store.ts';
import { statusOf } from '../../partners/partner-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/connect.ts';
import { sameText, sha256 } from '../../platform/ids.ts';
import { findSealed, type SealedField } from '../../platform/keys/sealed-values.ts';
import type { Sealing } from '../../platform/keys/sealing.ts';
import type { Stores } from '../stores.ts';

/** The owner and the state of a secret that was found by its hash. */
export interface FoundSecret extends Pick<SecretOwner, 'id' | 'partnerId' | 'partnerName' | 'mode'> {
  /** Why the secret does not work now; undefined if it works. */
  inactiveReason: string | undefined;
  /** Whether the secret can never work again. */
  ended: boolean;
  expiresAt?: Date | undefined;
}

export interface SecretOwnerDependencies {
  db: Database['db'];
  stores: Pick<Stores, 'partners' | 'admin' | 'members'>;
  sealing: Pick<Sealing, 'open'>;
  clock: Pick<Clock, 'now'>;
}

/** A reason why a secret does not work now; undefined if the reason does not exist. */
type Fault = { text: string; isPermanent: boolean } | undefined;

/** Returns the fault if it exists. The secret works again when an operator has mended it. */
const temporaryFault = (exists: boolean, text: string): Fault =>
  exists ? { text, isPermanent: false } : undefined;
/** Returns the fault if it exists. The secret then never works again. */
const permanentFault = (exists: boolean, text: string): Fault =>
  exists ? { text, isPermanent: true } : undefined;

const revokedFault = ({ status }: Pick<ApiKey, 'status'>): Fault =>
  permanentFault(status === 'revoked', 'the API key is revoked');

/** Returns a function that finds the owner of a secret by its hash, in the stores of all features. */
export function createSecretOwners({ db, stores, sealing, clock }: SecretOwnerDependencies) {
  const { partners, clients, keys, integrations } = stores.partners;
  const { members, memberSessions, deviceRequests } = stores.members;

  /** Returns the id of the record whose encrypted secret in `field` has this hash. */
  const findHolder = (field: SealedField, hash: string) =>
    findSealed(db, field, { sealing, matches: (value) => sameText(sha256(value), hash) });

  const isPast = (time: Date | undefined) => time !== undefined && time.getTime() <= clock.now();

  /** @param faults the most important one first. It tells why the secret does not work now, a permanent one that it never will */
  function describe(
    owner: Pick<FoundSecret, 'id' | 'partnerId' | 'partnerName' | 'mode'>,
    expiresAt: Date | undefined,
    faults: readonly Fault[],
  ): FoundSecret {
    const found = faults.filter((fault) => fault !== undefined);
    const ended = found.some(({ isPermanent }) => isPermanent);
    return { ...owner, inactiveReason: found[0]?.text, ended, expiresAt };
  }

  /**
   * Describes a secret of a partner.
   * @param expiresAt when an old secret expires; undefined for the present secret, which does not expire
   * @param faults the faults of the secret's record, the most important one first
   */
  async function describePartnerSecret(
    owner: { _id: string; partnerId: string; mode: FoundSecret['mode'] },
    expiresAt: Date | undefined,
    faults: readonly Fault[],
  ): Promise<FoundSecret> {
    const partner = await partners.find(owner.partnerId);
    const isActive = partner?.status === 'active';
    const partnerFault = temporaryFault(
      !isActive,
      `the partner is ${partner ? statusOf(partner) : 'unknown'}`,
    );
    const expiredFault = permanentFault(isPast(expiresAt), 'the secret was rotated, and has expired');
    const { _id: id, partnerId, mode } = owner;
    const named = { id, partnerId, partnerName: partner?.name ?? null, mode };
    return describe(named, expiresAt, [expiredFault, ...faults, partnerFault]);
  }

  async function findClientSecret(hash: string): Promise<FoundSecret | undefined> {
    const client = await clients.findBySecretHash(hash);
    if (!client) return undefined;
    const expiresAt = client.secrets.find((secret) => secret.hash === hash)?.expiresAt;
    const key = await keys.find(client.keyId);
    return describePartnerSecret(client, expiresAt, [
      temporaryFault(client.status !== 'active', 'the client is disabled'),
      temporaryFault(key?.status !== 'active', 'the API key of the client is revoked'),
    ]);
  }

  async function findOperatorToken(hash: string): Promise<FoundSecret | undefined> {
    const operator = await stores.admin.operators.findByHash(hash);
    if (!operator) return undefined;
    const { _id: id, status, expiresAt } = operator;
    return describe({ id, partnerId: null, partnerName: null, mode: null }, expiresAt, [
      permanentFault(status !== 'active', 'the operator is revoked'),
      permanentFault(isPast(expiresAt), 'the token has expired'),
    ]);
  }

  async function findIntegrationSecret(hash: string): Promise<FoundSecret | undefined> {
    const holderOfPresent = await findHolder(sealedSecret, hash);
    const id = holderOfPresent ?? (await findHolder(sealedOldSecret, hash));
    const integration = id === undefined ? undefined : await integrations.find(id);
    if (!integration) return undefined;
    const expiresAt = holderOfPresent === undefined ? integration.oldSecret?.expiresAt : undefined;
    const disabledFault = permanentFault(integration.status !== 'active', 'the integration is disabled');
    return describePartnerSecret(integration, expiresAt, [disabledFault]);
  }

  async function findApiKey(hash: string): Promise<FoundSecret | undefined> {
    const [key] = await keys.findByHashes([hash]);
    const expiresAt = key?.oldSecrets?.find((secret) => secret.hash === hash)?.expiresAt;
    return key && describePartnerSecret(key, expiresAt, [revokedFault(key)]);
  }

  async function findSigningSecret(hash: string): Promise<FoundSecret | undefined> {
    const holderOfPresent = await findHolder(sealedSigningSecret, hash);
    const id = holderOfPresent ?? (await findHolder(sealedPreparedSecret, hash));
    const key = id === undefined ? undefined : await keys.find(id);
    const isPrepared = holderOfPresent === undefined;
    const preparedFault = temporaryFault(isPrepared, 'it is prepared, and signs nothing yet');
    return key && describePartnerSecret(key, undefined, [preparedFault, revokedFault(key)]);
  }

  /** Describes a secret of a member. Removing the member ends it. @param memberId undefined before a member has confirmed it */
  async function describeMemberSecret(
    { memberId, expiresAt }: { memberId: string | undefined; expiresAt: Date },
    faults: readonly Fault[] = [],
  ): Promise<FoundSecret> {
    const member = memberId === undefined ? undefined : await members.find(memberId);
    const { partnerId = null } = member ?? {};
    const partner = partnerId === null ? undefined : await partners.find(partnerId);
    const id = memberId ?? 'a program that no member has let in';
    const expired = permanentFault(isPast(expiresAt), 'it has expired');
    const owner = { id, partnerId, partnerName: partner?.name ?? null, mode: null };
    return describe(owner, expiresAt, [expired, ...faults]);
  }

  async function findInvitation(hash: string): Promise<FoundSecret | undefined> {
    const member = await members.findInvited(hash);
    if (!member?.invitation) return undefined;
    const { expiresAt, heldUntil } = member.invitation;
    const isHeld = heldUntil !== undefined && !isPast(heldUntil);
    return describeMemberSecret({ memberId: member._id, expiresAt }, [
      temporaryFault(isHeld, 'it waits for an owner of the partner'),
    ]);
  }

  async function findMemberSession(hash: string): Promise<FoundSecret | undefined> {
    const session = await memberSessions.find(hash);
    return session && describeMemberSecret(session);
  }

  async function findDeviceCode(hash: string): Promise<FoundSecret | undefined> {
    const request = await deviceRequests.find(hash);
    if (!request) return undefined;
    const { status, confirmation, expiresAt } = request;
    return describeMemberSecret({ memberId: confirmation?.memberId, expiresAt }, [
      permanentFault(status === 'used' || status === 'denied', `the login was ${status}`),
      // Nothing has to be ended before a member has confirmed the program.
      permanentFault(status === 'pending', 'no member has let the program in'),
    ]);
  }

  const finders: Record<FindSecret['kind'], (hash: string) => Promise<FoundSecret | undefined>> = {
    testKey: findApiKey,
    liveKey: findApiKey,
    clientSecret: findClientSecret,
    webhookSecret: findSigningSecret,
    integrationSecret: findIntegrationSecret,
    operatorToken: findOperatorToken,
    invitation: findInvitation,
    memberSession: findMemberSession,
    deviceToken: findMemberSession,
    deviceCode: findDeviceCode,
  };
  /** @returns undefined if no record has the secret */
  return ({ kind, hash }: FindSecret) => finders[kind](hash);
}
