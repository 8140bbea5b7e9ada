import type { Schema } from '../platform/database/schema.ts';

/**
 * What this build knows. Versions 1 to 3 were written by development builds alone. A build with a new version reads the one before
 * too, and brings the migrations from it.
 */
export const schema: Schema = { version: 4, oldest: 4, migrations: [] };
