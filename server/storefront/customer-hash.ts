import { hmac } from '../platform/ids.ts';

/** A shop's customer, as its exchange of a code named them. */
export interface Customer {
  clientId: string;
  /** Host name, lower case. */
  shop: string;
  customerId: string;
}

/** Keyed hash that the enrollment stores instead of the customer's id. */
export const customerHash = (idKey: Uint8Array, { clientId, shop, customerId }: Customer): string =>
  hmac(idKey, JSON.stringify(['customer', clientId, shop, customerId]));
