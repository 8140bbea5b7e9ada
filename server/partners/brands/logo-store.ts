import { Binary, type Db } from 'mongodb';

/** A picture of a partner. The hosted pages load it by its `_id`, which the partner's record has as `logo`. */
interface Logo {
  /** Derived from the partner and the picture, so that another picture has another address. */
  _id: string;
  png: Binary;
}

const collection = 'logos';

export type LogoStore = ReturnType<typeof createLogoStore>;

/** Stores logos apart from partners, because every exchange reads the record of a partner. */
export function createLogoStore(db: Db) {
  const logos = db.collection<Logo>(collection);

  return {
    /** Stores a picture. Idempotent. */
    async keep(id: string, png: Uint8Array): Promise<void> {
      await logos.updateOne({ _id: id }, { $set: { png: new Binary(png) } }, { upsert: true });
    },

    async find(id: string): Promise<Buffer | undefined> {
      const found = await logos.findOne({ _id: id });
      return found ? Buffer.from(found.png.value()) : undefined;
    },

    async remove(id: string): Promise<void> {
      await logos.deleteOne({ _id: id });
    },
  };
}
