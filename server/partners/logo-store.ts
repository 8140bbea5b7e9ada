import { Binary, type Db } from 'mongodb';

/** A picture that the hosted pages load by its `_id`; the partner's record names it. */
interface Logo {
  /** Derived from partner and picture: another picture has another address. */
  _id: string;
  png: Binary;
}

export interface LogoStore {
  /** Idempotent. */
  keep(id: string, png: Uint8Array): Promise<void>;
  find(id: string): Promise<Buffer | undefined>;
  remove(id: string): Promise<void>;
}

/** Apart from the partners, whose records every exchange reads. */
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
