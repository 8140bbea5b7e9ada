import { ApiError } from '../../platform/errors.ts';
import { ownerOfWallet } from '../ledger/ledger-page.ts';

/** The error for a wallet that does not exist. Every partner has both wallets from its creation on, so there is no such partner. */
export const unknownPartner = (walletId: string): ApiError =>
  new ApiError('not_found', { description: `No partner ${ownerOfWallet(walletId).partnerId}` });
