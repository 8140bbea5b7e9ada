import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcadminError, svcadmin } from './svcadmin.ts';

/** The ids and credentials of the partner. They are kept between runs in a file with mode 0600. */
export interface Account {
  partnerId: string;
  keyId: string;
  apiKey: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  receiverPort: number;
}

interface Settings {
  file: string;
  baseUrl: string;
  env: NodeJS.ProcessEnv;
}

export const claims = 'age_18_plus identity_verified country';

function readAccount(file: string): Partial<Account> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Account>) : {};
}

/**
 * Opens the account of the journey's partner. The functions `ensure…` keep what is still valid. Otherwise they create it or
 * rotate its secret by `svcadmin`.
 */
export function openAccount({ file, baseUrl, env }: Settings) {
  const account = readAccount(file);
  const run = <Value>(...args: string[]) => svcadmin<Value>(args, env);

  function save(changes: Partial<Account>): void {
    Object.assign(account, changes);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(account, null, 2), { mode: 0o600 });
  }

  async function canShow(...showCommand: string[]): Promise<boolean> {
    return run(...showCommand).then(
      () => true,
      (error: unknown) => {
        if (error instanceof SvcadminError && error.exitCode === 4) return false;
        throw error;
      },
    );
  }

  async function isKeyValid(): Promise<boolean> {
    const headers = { authorization: `Bearer ${account.apiKey}` };
    return (await fetch(`${baseUrl}/api/verify/hvf-session/none`, { headers })).status !== 401;
  }

  async function isSecretValid(): Promise<boolean> {
    const { clientId = '', clientSecret = '' } = account;
    const body = new URLSearchParams({ token: 'none', client_id: clientId, client_secret: clientSecret });
    return (await fetch(`${baseUrl}/api/oauth/revoke`, { method: 'POST', body })).status !== 401;
  }

  return {
    /** The account. It has all fields after `ensurePartner`, `ensureKey` and `ensureClient`. */
    account: account as Account,
    receiverPort: account.receiverPort,
    save,
    run,

    /** @returns whether the partner existed before */
    async ensurePartner(): Promise<boolean> {
      if (account.partnerId && (await canShow('partners', 'show', account.partnerId))) return true;
      const { id } = await run<{ id: string }>('partners', 'create', 'Journey Cinema');
      await run('partners', 'activate', id);
      for (const name of Object.keys(account) as (keyof Account)[]) delete account[name];
      save({ partnerId: id });
      return false;
    },

    /** @returns whether the kept key is still valid */
    async ensureKey(): Promise<boolean> {
      if (account.keyId && account.apiKey && (await isKeyValid())) return true;
      type Key = { id: string; apiKey: string };
      const key = account.keyId
        ? await run<Key>('keys', 'rotate', account.keyId, '--yes')
        : await run<Key>('keys', 'create', '--partner', account.partnerId ?? '', '--mode', 'test');
      save({ keyId: key.id, apiKey: key.apiKey });
      return false;
    },

    /** @returns whether the kept client secret is still valid */
    async ensureClient(redirectUri: string): Promise<boolean> {
      const { partnerId = '', keyId = '', clientId } = account;
      if (clientId && account.redirectUri !== redirectUri) {
        await run('clients', 'update', clientId, '--redirect-uri', redirectUri);
        save({ redirectUri });
      }
      if (clientId && account.clientSecret && (await isSecretValid())) return true;
      type Client = { id: string; clientSecret: string };
      const create = ['clients', 'create', '--partner', partnerId, '--key', keyId, '--name', 'Box office'];
      const client = clientId
        ? await run<Client>('clients', 'rotate-secret', clientId, '--yes')
        : await run<Client>(...create, '--redirect-uri', redirectUri, '--claims', claims);
      save({ clientId: client.id, clientSecret: client.clientSecret, redirectUri });
      return false;
    },
  };
}
