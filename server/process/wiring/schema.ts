import type { Schema } from '../../platform/database/schema/schema.ts';

/**
 * The schema versions of this build. Only development builds wrote versions 1 to 3. A build with a new version also reads the
 * version before, and contains the migrations from it.
 */
export const schema: Schema = { version: 4, oldest: 4, migrations: [] };
