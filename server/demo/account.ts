import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TRPCClientError } from '@trpc/client';
import type { AdminApi, DemoClaim } from './admin-api.ts';

/** The credentials of the demo's partner. They are kept in a file with mode 0600 between runs. */
export interface Account {
  partnerId: string;
  keyId: string;
  apiKey: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  /** The verification source of the client. If absent or null, the sandbox verifies. */
  source?: string | null;
  webhookUrl: string;
  signingSecret: string;
}

interface Dependencies {
  file: string;
  admin: AdminApi;
  redirectUri: string;
  webhookUrl: string;
}

const shop = {
  name: 'Corner Cellar',
  color: '#7b1e3a',
  purpose: 'We may sell wine to adults only, and only in some countries.',
};
const claims: DemoClaim[] = ['age_18_plus', 'country', 'identity_verified'];
/** The amount in cents that is added to the wallet if it holds less than `lowBalanceCents`. */
const fundingCents = 5_000;
const lowBalanceCents = 500;

/** Reads the credentials of the last run; none if there was no run. */
export function readAccount(file: string): Partial<Account> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Account>) : {};
}

/** Whether a read by the admin API finds the record. @throws every error but `not_found` */
async function isFound(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    const data = error instanceof TRPCClientError ? (error.data as { error?: string } | null) : null;
    if (data?.error === 'not_found') return false;
    throw error;
  }
}

/**
 * Sets up the demo's partner in test mode through the admin API, as an operator would. It reuses existing records and creates
 * missing ones. It rotates an API key whose secret is lost.
 */
export function createAccount({ file, admin, redirectUri, webhookUrl }: Dependencies) {
  let account = readAccount(file);

  function saveChanges(changes: Partial<Account>): void {
    account = { ...account, ...changes };
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(account, null, 2), { mode: 0o600 });
  }

  /** Returns the id of the stored partner if it still exists; else makes an active one, and drops the rest of the account. */
  async function ensurePartner(): Promise<string> {
    const { partnerId } = account;
    if (partnerId && (await isFound(admin.partners.show.query({ partnerId })))) return partnerId;
    const { id } = await admin.partners.create.mutate({ name: shop.name });
    await admin.partners.activate.mutate({ partnerId: id });
    // The rest belongs to a partner that no longer exists, for example in a database that was deleted.
    account = {};
    saveChanges({ partnerId: id });
    return id;
  }

  async function ensureKey(partnerId: string): Promise<string> {
    const { keyId, apiKey } = account;
    if (keyId && apiKey) return keyId;
    // A secret cannot be read again. If only the key's id is left, a rotation makes a new secret.
    const key = keyId
      ? await admin.keys.rotate.mutate({ keyId })
      : await admin.keys.create.mutate({ partnerId, mode: 'test' });
    saveChanges({ keyId: key.id, apiKey: key.apiKey });
    return key.id;
  }

  async function ensureClient(partnerId: string, keyId: string): Promise<void> {
    const { clientId } = account;
    if (!clientId) {
      const client = await admin.clients.create.mutate({
        partnerId,
        keyId,
        name: 'Demo shop',
        redirectUris: [redirectUri],
        claims,
        brandColor: shop.color,
        purpose: shop.purpose,
      });
      saveChanges({ clientId: client.id, clientSecret: client.clientSecret, redirectUri });
    } else if (account.redirectUri !== redirectUri) {
      await admin.clients.update.mutate({ clientId, redirectUris: [redirectUri] });
      saveChanges({ redirectUri });
    }
  }

  async function ensureWebhook(keyId: string): Promise<void> {
    if (account.webhookUrl === webhookUrl && account.signingSecret) return;
    // The receiver has another port if that of the last run is taken. Setting a URL also makes a new signing secret.
    const { signingSecret } = await admin.webhooks.set.mutate({ keyId, url: webhookUrl });
    saveChanges({ webhookUrl, signingSecret });
  }

  async function ensureFunds(partnerId: string): Promise<void> {
    const wallet = { partnerId, mode: 'test' } as const;
    const { balance } = await admin.wallets.show.query(wallet);
    if (balance >= lowBalanceCents) return;
    const reference = `demo ${new Date().toISOString()}`;
    await admin.wallets.fund.mutate({ ...wallet, amount: fundingCents, reference });
  }

  return {
    /** Sets the verification source of the client. Null is the sandbox. */
    async setSource(source: string | null): Promise<void> {
      const { clientId } = account;
      if (!clientId || (account.source ?? null) === source) return;
      await admin.clients.update.mutate({ clientId, sources: source === null ? null : [source] });
      saveChanges({ source });
    },

    /** Makes the account ready for a verification and returns it. @throws errors of the admin API */
    async ensure(): Promise<Account> {
      const partnerId = await ensurePartner();
      const keyId = await ensureKey(partnerId);
      await ensureClient(partnerId, keyId);
      await ensureWebhook(keyId);
      await ensureFunds(partnerId);
      // The steps above have set every field that the type requires.
      return account as Account;
    },

    signingSecret: () => account.signingSecret,

    /** Returns the balance of the partner's wallet in cents, from the admin API. Call it after `ensure`. */
    async balance(): Promise<number> {
      const { partnerId = '' } = account;
      return (await admin.wallets.show.query({ partnerId, mode: 'test' })).balance;
    },
  };
}
export type DemoAccount = ReturnType<typeof createAccount>;
