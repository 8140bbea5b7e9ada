import type { WaitingBrand } from '../../contracts/admin/brands.ts';
import type { AdminApi } from '../connection/client.ts';
import { describeChanges } from './previews.ts';

/** Returns the waiting change of a client's brand or of a partner's logo. @throws not_found, refused */
export async function findWaiting(api: AdminApi, id: string): Promise<WaitingBrand> {
  return api.brands.show.query({ brandId: id });
}

/** Describes a waiting change, such as `brand name - → Shop`. */
export const describeWaiting = ({ present, changes, logoUrl, partnerName }: WaitingBrand): string =>
  `${describeChanges(present, changes)}${logoUrl ? ` (${logoUrl})` : ''}, of ${partnerName ?? 'a partner'}`;
