import { sealedFields as webhookSecrets } from '../partners/key-store.ts';
import { sealedFields as keys } from '../platform/keys/keyring.ts';
import type { SealedField } from '../platform/keys/sealed-values.ts';
import { sealedFields as integrationSecrets } from '../storefront/integration-store.ts';

/** Every place that holds a value under the master key; a test holds it against a database with traffic. */
export const sealedFields: readonly SealedField[] = [...keys, ...webhookSecrets, ...integrationSecrets];
