import { type Credentials, manyPartners, type PartnerSet } from '../contenders/contender.ts';

const credentials = (n: number): Credentials => ({
  clientId: `client-${n}`,
  clientSecret: `secret-of-client-${n}-0123456789abcdefghijklmnopqrstuvwxyz`,
});

/** The clients of every peer. The first belongs to the one hot partner. */
export const peerClients = Array.from({ length: manyPartners }, (_, n) => credentials(n));

/** The client of the `n`th code. */
export const peerClient = (n: number, partnerSet: PartnerSet): Credentials =>
  credentials(partnerSet === 'one' ? 0 : n % manyPartners);
