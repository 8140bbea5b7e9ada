import { Binary, type Db } from 'mongodb';

/** A picture of a partner. The hosted pages load it by its `_id`, which the partner's record has as `logo`. */
interface Logo {
  /** Derived from the partner and the picture, so that another picture has another address. */
  _id: string;
  png: Binary;
}

export interface LogoStore {
  /** Stores a picture. Idempotent. */
  keep(id: string, png: Uint8Array): Promise<void>;
  find(id: string): Promise<Buffer | undefined>;
  remove(id: string): Promise<void>;
}

/** Stores logos apart from partners, because every exchange reads the record of a partner. */
export function createLogoStore(db: Db): LogoStore {
  const logos = db.collection<Logo>('logos');

  return {
    async keep(id, png) {
      await logos.updateOne({ _id: id }, { $set: { png: new Binary(png) } }, { upsert: true });
    },

    async find(id) {
      const found = await logos.findOne({ _id: id });
      return found ? Buffer.from(found.png.value()) : undefined;
    },

    async remove(id) {
      await logos.deleteOne({ _id: id });
    },
  };
}
