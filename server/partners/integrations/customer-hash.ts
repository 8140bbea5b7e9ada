import { hmac } from '../../platform/ids.ts';

/** A customer of a shop, as named in the exchange of a code. */
export interface Customer {
  clientId: string;
  /** Host name, lower case. */
  shop: string;
  customerId: string;
}

/** Returns the keyed hash that the enrollment stores instead of the customer's id. */
export const customerHash = (idKey: Uint8Array, { clientId, shop, customerId }: Customer): string =>
  hmac(idKey, JSON.stringify(['customer', clientId, shop, customerId]));
