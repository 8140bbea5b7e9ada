import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { TRPCClientError } from '@trpc/client';
import type { AdminApi, DemoClaim } from './admin-api.ts';

/** What the demo's partner was given when it was set up; kept between runs, 0600. */
export interface Account {
  partnerId: string;
  keyId: string;
  apiKey: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  /** Who verifies its users; the sandbox where absent. */
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
/** Cents. Topped up when less is left than a few verifications cost. */
const fundsCents = 5_000;
const lowBalanceCents = 500;

function read(file: string): Partial<Account> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Account>) : {};
}

async function exists(record: Promise<unknown>): Promise<boolean> {
  try {
    await record;
    return true;
  } catch (error) {
    const data = error instanceof TRPCClientError ? (error.data as { error?: string } | null) : null;
    if (data?.error === 'not_found') return false;
    throw error;
  }
}

/**
 * The demo's partner: set up through the admin API as support would, in test mode. Existing records are reused,
 * missing ones are created, and lost secrets are rotated.
 */
export function createAccount({ file, admin, redirectUri, webhookUrl }: Dependencies) {
  let account = read(file);

  function keep(changes: Partial<Account>): void {
    account = { ...account, ...changes };
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(account, null, 2), { mode: 0o600 });
  }

  async function ensurePartner(): Promise<string> {
    const { partnerId } = account;
    if (partnerId && (await exists(admin.partners.show.query({ partnerId })))) return partnerId;
    const { id } = await admin.partners.create.mutate({ name: shop.name });
    await admin.partners.activate.mutate({ partnerId: id });
    account = {};
    keep({ partnerId: id });
    return id;
  }

  async function ensureKey(partnerId: string): Promise<string> {
    const { keyId, apiKey } = account;
    if (keyId && apiKey) return keyId;
    const key = keyId
      ? await admin.keys.rotate.mutate({ keyId })
      : await admin.keys.create.mutate({ partnerId, mode: 'test' });
    keep({ keyId: key.id, apiKey: key.apiKey });
    return key.id;
  }

  async function ensureClient(partnerId: string, keyId: string): Promise<void> {
    const { clientId } = account;
    if (!clientId) {
      const made = await admin.clients.create.mutate({
        partnerId,
        keyId,
        name: 'Demo shop',
        redirectUris: [redirectUri],
        claims,
        brandColor: shop.color,
        purpose: shop.purpose,
      });
      keep({ clientId: made.id, clientSecret: made.clientSecret, redirectUri });
    } else if (account.redirectUri !== redirectUri) {
      await admin.clients.update.mutate({ clientId, redirectUris: [redirectUri] });
      keep({ redirectUri });
    }
  }

  async function ensureWebhook(keyId: string): Promise<void> {
    if (account.webhookUrl === webhookUrl && account.signingSecret) return;
    const { signingSecret } = await admin.webhooks.set.mutate({ keyId, url: webhookUrl });
    keep({ webhookUrl, signingSecret });
  }

  async function ensureMoney(partnerId: string): Promise<void> {
    const wallet = { partnerId, mode: 'test' } as const;
    const { balance } = await admin.wallets.show.query(wallet);
    if (balance >= lowBalanceCents) return;
    const reference = `demo ${new Date().toISOString()}`;
    await admin.wallets.fund.mutate({ ...wallet, amount: fundsCents, reference });
  }

  return {
    /** Sets the source of the client; null is the sandbox. */
    async verifyBy(source: string | null): Promise<void> {
      const { clientId } = account;
      if (!clientId || (account.source ?? null) === source) return;
      await admin.clients.update.mutate({ clientId, sources: source === null ? null : [source] });
      keep({ source });
    },

    /** The account, ready to serve a verification. @throws what the admin API throws */
    async ensure(): Promise<Account> {
      const partnerId = await ensurePartner();
      const keyId = await ensureKey(partnerId);
      await ensureClient(partnerId, keyId);
      await ensureWebhook(keyId);
      await ensureMoney(partnerId);
      return account as Account;
    },

    signingSecret: () => account.signingSecret,

    /** Balance of the partner's wallet in cents, from the admin API: the public API does not have it. */
    async balance(): Promise<number> {
      const { partnerId = '' } = account;
      return (await admin.wallets.show.query({ partnerId, mode: 'test' })).balance;
    },
  };
}
export type DemoAccount = ReturnType<typeof createAccount>;
