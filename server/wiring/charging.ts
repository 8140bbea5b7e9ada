import type { BillableKind, Charging } from '../../contracts/charge.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { Charges } from '../billing/charge.ts';
import { walletIdOf } from '../billing/ledger-page.ts';
import { type PriceOverrides, priceOf } from '../billing/prices.ts';

/** Who is charged, and in which mode. */
export interface Payer {
  client: { mode: Mode };
  partner: { _id: string; prices?: PriceOverrides };
}

/** The charges of one billable endpoint: the wallet that pays, and the price in force. `standard` in cents. */
export function chargingOf(charges: Charges, kind: BillableKind, standard: number): Charging<Payer> {
  return {
    past: ({ client, partner, cause }) => charges.past({ partnerId: partner._id, mode: client.mode, cause }),
    charge: ({ client, partner, cause, terms, waiting }, answer) =>
      charges.charge(
        {
          partnerId: partner._id,
          mode: client.mode,
          cause,
          kind,
          cents: priceOf(kind, partner.prices, standard),
          terms,
          waiting,
        },
        answer,
      ),
  };
}

/** The access of a token that a client sent. */
export const accessOf =
  (charges: Charges) =>
  ({ partnerId, mode }: { partnerId: string; mode: Mode }, id: string) =>
    charges.access(walletIdOf(partnerId, mode), id);
