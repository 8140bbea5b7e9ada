import { createHash } from 'node:crypto';
import type { PartnerView } from '../../contracts/admin/partners.ts';
import type { Clock } from '../platform/clock.ts';
import type { Actor } from '../platform/database/audit-entry.ts';
import { createCachedChange, type Directory } from './directory.ts';
import { remakeLogo } from './logo.ts';
import type { LogoStore } from './logo-store.ts';
import type { PartnerStore } from './partner-store.ts';
import { viewPartner } from './views.ts';

interface Dependencies {
  store: Pick<PartnerStore, 'change' | 'get'>;
  logos: LogoStore;
  clock: Pick<Clock, 'now'>;
  directory: Pick<Directory, 'changed'>;
}

/** Manages the logos of partners. The methods throw ApiError. */
export function createLogos({ store, logos, clock, directory }: Dependencies) {
  const changePartner = createCachedChange(store, clock, directory);

  /**
   * Sets or removes the logo of a partner, and deletes the previous picture.
   * @param logo the id of the stored picture; undefined removes the logo
   */
  async function change(partnerId: string, logo: string | undefined, actor: Actor): Promise<PartnerView> {
    let previous: string | undefined;
    const partner = await changePartner(partnerId, actor, (current) => {
      // The function runs again after a concurrent change, so the last value counts.
      previous = current.logo;
      if (previous === logo) return undefined;
      return { set: { logo }, before: { logo: previous ?? null }, after: { logo: logo ?? null } };
    });
    if (previous !== undefined && previous !== logo) await logos.remove(previous);
    return viewPartner(partner);
  }

  return {
    /** Stores a partner's logo and removes the previous one. @param image the PNG or JPEG file in base64 */
    async set(partnerId: string, image: string, actor: Actor): Promise<PartnerView> {
      const png = remakeLogo(Buffer.from(image, 'base64'));
      // Another picture has another id. So pages can cache a picture by its id, without a check for changes.
      const id = createHash('sha256').update(partnerId).update(png).digest('hex').slice(0, 32);
      // Throws if the partner does not exist, so that no picture is stored for it.
      await store.get(partnerId);
      // The picture comes before the partner refers to it.
      await logos.keep(id, png);
      return change(partnerId, id, actor);
    },

    remove: (partnerId: string, actor: Actor): Promise<PartnerView> => change(partnerId, undefined, actor),
  };
}
export type Logos = ReturnType<typeof createLogos>;
