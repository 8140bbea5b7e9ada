interface Query<Input, Output> {
  query: (input: Input) => Promise<Output>;
}
interface Mutation<Input, Output> {
  mutate: (input: Input) => Promise<Output>;
}

interface Id {
  id: string;
}
interface PartnerId {
  partnerId: string;
}
interface NewKey extends Id {
  apiKey: string;
}
export type DemoClaim = 'age_18_plus' | 'country' | 'identity_verified';

interface NewClient {
  partnerId: string;
  keyId: string;
  name: string;
  redirectUris: string[];
  claims: DemoClaim[];
  brandColor: string;
  purpose: string;
}
interface ClientChanges {
  clientId: string;
  redirectUris?: string[];
  sources?: string[] | null;
}
type WalletId = PartnerId & { mode: 'test' };

/** The procedures of the admin API that the demo calls. A tRPC client of the service implements them. */
export interface AdminApi {
  partners: {
    show: Query<PartnerId, unknown>;
    create: Mutation<{ name: string }, Id>;
    activate: Mutation<PartnerId, unknown>;
  };
  keys: {
    create: Mutation<WalletId, NewKey>;
    rotate: Mutation<{ keyId: string }, NewKey>;
  };
  clients: {
    create: Mutation<NewClient, Id & { clientSecret: string }>;
    update: Mutation<ClientChanges, unknown>;
  };
  webhooks: { set: Mutation<{ keyId: string; url: string }, { signingSecret: string }> };
  wallets: {
    show: Query<WalletId, { balance: number }>;
    fund: Mutation<WalletId & { amount: number; reference: string }, unknown>;
  };
}
