import { type Credentials, type PartnerSet, partnersInCrowd } from '../contenders/contender.ts';

const credentials = (n: number): Credentials => ({
  clientId: `client-${n}`,
  clientSecret: `secret-of-client-${n}-0123456789abcdefghijklmnopqrstuvwxyz`,
});

/** The clients that every peer knows: the first is the one hot partner's. */
export const peerClients = Array.from({ length: partnersInCrowd }, (_, n) => credentials(n));

/** Whose the `n`th code is. */
export const peerClient = (n: number, partnerSet: PartnerSet): Credentials =>
  credentials(partnerSet === 'one' ? 0 : n % partnersInCrowd);
